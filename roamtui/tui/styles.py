"""Component styles as pieces of a line need them."""

from __future__ import annotations

from rich.style import Style
from textual.widget import Widget


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
