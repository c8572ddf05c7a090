"""Text that is out to harm: what it may contain, and how to see that it did nothing."""

from __future__ import annotations

import re

ESCAPES: dict[str, str] = {
    "osc 52 clipboard": "\x1b]52;c;cHduZWQ=\x07",
    "osc 0 title": "\x1b]0;owned\x1b\\",
    "osc 8 link": "\x1b]8;;http://evil.example\x1b\\x\x1b]8;;\x1b\\",
    "osc 9 notice": "\x1b]9;4;1\x07\x1b]777;notify;a;b\x07",
    "osc 1337 file": "\x1b]1337;File=name=eA==:AAAA\x07",
    "clear and home": "\x1b[2J\x1b[H",
    "reset": "\x1bc",
    "scroll region": "\x1b[3;5r",
    "alternate screen": "\x1b[?1049l",
    "mouse on": "\x1b[?1003h",
    "status reports": "\x1b[6n\x1b[c\x1b[21t",
    "DECRQSS and XTGETTCAP": "\x1bP$qm\x1b\\\x1bP+q544e\x1b\\",
    "kitty graphics": "\x1b_Ga=T;AAAA\x1b\\",
    "privacy message": "\x1b^pm\x1b\\",
    "start of string": "\x1bXsos\x1b\\",
    "sixel": "\x1bPq#0;2;0;0;0~-\x1b\\",
    "C1 controls": "".join(map(chr, range(0x80, 0xA0))),
    "C0 controls": "".join(chr(code) for code in range(32) if chr(code) not in "\n\r"),
    "delete": "\x7f",
    "tabs": "a\tb\tc",
    "bidi overrides": "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c\u200e\u200f",
    "zero width": "\u200b\u2060\ufeff\u00ad\u180e",
    "tags": "".join(chr(0xE0000 + ord(char)) for char in "obey"),
    "interlinear and separators": "\ufff9\ufffa\ufffb\u2028\u2029",
    "blank fillers": "\u115f\u1160\u3164\uffa0",
}
"""What a terminal may act on or a reader cannot see, by name."""

MARKUP: tuple[str, ...] = (
    "[@click=app.quit]click[/]",
    "[@click=app.pwn('x')]click me[/@click]",
    "x [/] y",
    "[/etc/passwd]",
    "path [/etc/passwd] here",
    "[b]bold[/b]",
    "[i]",
    "[#07f327]",
    "[red on blue]x[/red on blue]",
    "[x] done [ ] open",
    "[Foo.bar]",
    "dict[str, int]",
    "list[list[str]]",
    "[link=http://evil.example]x[/link]",
    "[link](http://a.example)",
    "[TODO] x",
    "[#1234]",
    "[$error]x[/]",
    "\\[escaped]",
    "[[double]]",
    ":bomb: :8080: 10:30",
    "[reverse]x[/reverse] [not bold]",
)
"""What Textual's or Rich's markup would swallow, fail on or make clickable."""

UNSAFE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""Code points that must not reach a terminal; ESC is judged by what it begins."""

_OURS = re.compile(
    r"\x1b\[[0-9;:]*[mHGdABCDJKX]"  # colours and moves
    r"|\x1b\[\?(?:25|7|1000|1002|1003|1004|1006|1015|1016|1049|2004|2026|2048)(?:[hl]|\$p)"
    r"|\x1b\[[<>=][0-9;]*u|\x1b\[>[0-9;]*[cq]|\x1b\[>4;?[0-9]*m"  # the keyboard protocol
    r"|\x1b\]22;[a-z-]*(?:\x1b\\|\x07)"  # the shape of the mouse pointer
    r"|\r|\n|\x07"
)
"""What the program itself says to a terminal."""


def unsafe_output(raw: bytes) -> list[str]:
    """Return everything in a terminal's input that neither draws text nor belongs to the program's own words."""
    left = _OURS.sub("", raw.decode("utf-8", "replace"))
    found = UNSAFE.findall(left)
    for match in re.finditer("\x1b", left):
        found.append(left[match.start() : match.start() + 24])
    return found
