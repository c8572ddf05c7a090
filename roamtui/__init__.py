"""roamtui: explore long documents in the terminal, by hand or with an agent."""

from __future__ import annotations

__version__ = "0.1.0"
