"""Counting tokens without asking anyone: OpenAI's tokenizers from litellm's package, or the built-in estimate.

tiktoken alone would fetch its tables from the network. litellm ships them, and is not imported for it.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from typing import TYPE_CHECKING

from roamtui.estimate import estimate_tokens
from roamtui.models.wheel_data import litellm_folder

if TYPE_CHECKING:
    import tiktoken

_TABLES = {
    "cl100k_base": (
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    "o200k_base": (
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
}
"""File name (SHA-1 of its address) and SHA-256 of its content, both as tiktoken has them."""
_CL100K = re.compile(r"(?:openai/|azure/)?(?:gpt-4(?:-|$)|gpt-3\.5)")
_O200K = re.compile(r"(?:openai/|azure/|openrouter/openai/)?(?:gpt-4o|gpt-4\.|gpt-[5-9]|chatgpt-|o[1-9](?:-|$))")
ESTIMATE = "estimate"
"""Label of counts by the built-in estimator."""

_encodings: dict[str, tiktoken.Encoding | None] = {}
_lock = threading.Lock()


class TokenCounter:
    """Counts tokens as a model would, or nearly. The same text always has the same count in one installation."""

    def __init__(self, name: str) -> None:
        """Choose the tokenizer for a model's name: OpenAI's own for its models, the estimate for all others.

        Other providers' tokenizers are not public or not here; the estimate was fitted to be rarely too low for them.
        """
        wanted = "cl100k_base" if _CL100K.match(name) else "o200k_base" if _O200K.match(name) else ""
        self._wanted = wanted if wanted and _table_path(wanted) is not None else ""

    @property
    def label(self) -> str:
        """`o200k_base`, `cl100k_base` or `estimate`."""
        return self._wanted or ESTIMATE

    def load(self) -> None:
        """Load the tokenizer now, 0.1 to 0.3 s, instead of at the first count. For a thread."""
        if self._wanted and _encoding(self._wanted) is None:
            self._wanted = ""

    def count(self, text: str) -> int:
        """Return the number of tokens of `text`; marks such as `<|endoftext|>` count as the text they are."""
        self.load()
        encoding = _encodings.get(self._wanted)
        if encoding is None:
            return estimate_tokens(text)
        return len(encoding.encode(text, disallowed_special=()))


def _table_path(name: str) -> str | None:
    folder = litellm_folder()
    if folder is None:
        return None
    path = folder / "litellm_core_utils" / "tokenizers" / _TABLES[name][0]
    return str(path) if path.is_file() else None


def _encoding(name: str) -> tiktoken.Encoding | None:
    with _lock:
        if name not in _encodings:
            _encodings[name] = _load(name)
        return _encodings[name]


def _load(name: str) -> tiktoken.Encoding | None:
    """Build an encoding from the packaged table; None when it is not the table we know.

    The content is checked first: tiktoken would delete a file it does not like and fetch another.
    """
    path = _table_path(name)
    if path is None:
        return None
    try:
        with open(path, "rb") as file:
            if hashlib.sha256(file.read()).hexdigest() != _TABLES[name][1]:
                return None
        import tiktoken
    except (OSError, ImportError):
        return None
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = os.path.dirname(path)
    try:
        return tiktoken.get_encoding(name)
    finally:
        if before is None:
            del os.environ["TIKTOKEN_CACHE_DIR"]
        else:
            os.environ["TIKTOKEN_CACHE_DIR"] = before
