"""Which lines start an HTML block, and what ends it (CommonMark 0.31, section 4.6)."""

from __future__ import annotations

import re
from typing import NamedTuple

_BLOCK_NAMES = (
    "address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt"
    " fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link"
    " main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead"
    " title tr track ul"
)
_NAME = r"[A-Za-z][A-Za-z0-9\-]*"
_VALUE = r"""(?:[^"'=<>`\x00-\x20]+|'[^']*'|"[^"]*")"""
_ATTRIBUTE = rf"\s+[A-Za-z_:][A-Za-z0-9:._-]*(?:\s*=\s*{_VALUE})?"


class Kind(NamedTuple):
    """A kind of HTML block."""

    opens: re.Pattern[str]
    """Matches the first line, from its `<`."""
    closed_by: re.Pattern[bytes] | None
    """Found in the last line; None: the block ends at a blank line."""
    interrupts: bool
    """Whether it may end a paragraph."""


_KINDS = (
    Kind(
        re.compile(r"<(?i:(?a:script|pre|style|textarea))(?=\s|>|$)"),
        re.compile(rb"(?i)</(?:script|pre|style|textarea)>"),
        True,
    ),
    Kind(re.compile(r"<!--"), re.compile(rb"-->"), True),
    Kind(re.compile(r"<\?"), re.compile(rb"\?>"), True),
    Kind(re.compile(r"<![A-Za-z]"), re.compile(rb">"), True),
    Kind(re.compile(r"<!\[CDATA\["), re.compile(rb"\]\]>"), True),
    Kind(re.compile(rf"</?(?i:(?a:{_BLOCK_NAMES.replace(' ', '|')}))(?=\s|/?>|$)"), None, True),
    Kind(re.compile(rf"(?:<{_NAME}(?:{_ATTRIBUTE})*\s*/?>|</{_NAME}\s*>)\s*$"), None, False),
)


def kind_of(line: str) -> Kind | None:
    """Return the kind of HTML block that a line starting at `<` opens, or None."""
    return next((kind for kind in _KINDS if kind.opens.match(line)), None)
