"""Numbers as the screen shows them."""

from __future__ import annotations


def short_count(count: int) -> str:
    """Return a count in at most four characters: 310, 1.2k, 34k, 1.2M."""
    if count < 1000:
        return str(count)
    for size, unit in ((1_000, "k"), (1_000_000, "M"), (1_000_000_000, "G")):
        scaled = count / size
        if scaled < 9.95:
            return f"{scaled:.1f}{unit}"
        if scaled < 999.5 or unit == "G":
            return f"{scaled:.0f}{unit}"
    return str(count)
