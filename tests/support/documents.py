"""Small documents for tests, and the way to a library of them."""

from __future__ import annotations

import hashlib

from roamtui.document.markdown import parse_markdown
from roamtui.document.model import Document, Library, Origin

GARDEN = """\
# Garden

A small book about a garden, written for tests.

## Soil

Clay holds water. Sand lets it run away.
Mix both with compost in spring.

### Acidity

Blueberries want a pH between 4.5 and 5.5.
Lime raises the pH.

## Plants

### Tomatoes

Tomatoes need a stake of 150 cm. Water them
every second day in July.

### Beans

Beans climb. Sow them after the last frost in May.

## Tools

A spade, a fork and a watering can are enough.
"""


def document(text: str | bytes, name: str = "garden.md") -> Document:
    """Return a document parsed from text."""
    source = text.encode() if isinstance(text, str) else text
    return parse_markdown(source, name=name, origin=Origin(address=name, sha256=hashlib.sha256(source).hexdigest()))


def library(*texts: str) -> Library:
    """Return a library of documents; the garden when none is given."""
    if not texts:
        return Library([document(GARDEN)])
    names = ["garden.md", *(f"doc{number}.md" for number in range(2, len(texts) + 1))]
    return Library([document(text, name) for text, name in zip(texts, names, strict=True)])


def ref(of: Library, *path: str) -> str:
    """Return the id of the first section with this path."""
    for found, place in of.places():
        if place.path == path:
            return found
    raise KeyError(path)
