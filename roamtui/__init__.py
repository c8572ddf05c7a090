"""roamtui: explore long documents in the terminal, by hand or with an agent.

The public names load on first use, so that `import roamtui` costs nothing:

    from roamtui import Session, open_library
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from roamtui.document.model import Document as Document
    from roamtui.document.model import Library as Library
    from roamtui.events import Event as Event
    from roamtui.session import Session as Session
    from roamtui.sources.open import open_library as open_library

__version__ = "0.1.0"

_HOMES = {
    "Document": "roamtui.document.model",
    "Event": "roamtui.events",
    "Library": "roamtui.document.model",
    "Session": "roamtui.session",
    "open_library": "roamtui.sources.open",
}

__all__ = ["Document", "Event", "Library", "Session", "__version__", "open_library"]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'roamtui' has no attribute {name!r}")
    return getattr(import_module(home), name)
