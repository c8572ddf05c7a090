"""Component styles as pieces of a line need them."""

from __future__ import annotations

from rich.style import Style
from textual.widget import Widget

from roamtui.trace.state import Mark


def component_style(widget: Widget, name: str) -> Style:
    """Return what a component class sets itself, with colours such as `auto 60%` worked out.

    Textual's partial style takes a colour's share and its `auto` away; its full style paints a background
    even where none is set.
    """
    own = widget.get_component_rich_style(name, partial=True)
    if own.color is None:
        return own
    shown = widget.get_component_rich_style(name)
    return own + Style.from_color(shown.color, None)


_MARK_WEIGHTS: dict[Mark, str] = {
    "none": "none",
    "closed": "none",
    "found": "none",
    "open": "bold",
    "yours": "bold",
    "unhelpful": "italic",
    "helpful": "bold",
    "opening": "bold underline",
}
"""Text styles of the marks, so that colour never stands alone."""


def mark_css(prefix: str) -> str:
    """Return the rules for the component classes `PREFIX--MARK` of a widget, to stand inside its own rule."""
    rules = []
    for mark, weight in _MARK_WEIGHTS.items():
        color = "" if mark == "none" else f"color: $mark-{mark}; "
        rules.append(f"& > .{prefix}--{mark} {{ {color}text-style: {weight}; }}")
    return "\n".join(rules)
