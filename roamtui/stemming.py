"""Stemmers: English by Porter's algorithm (1980), German after Savoy's light stemmer (2006), and plain endings.

All take one folded word (lower case, no diacritics) and return its stem; words with digits come back
as they are.
"""

from __future__ import annotations

import re

_CONSONANT = "[^aeiou]"
_VOWEL = "[aeiouy]"
_C = _CONSONANT + "[^aeiouy]*"
_V = _VOWEL + "[aeiou]*"
_MEASURE_1 = re.compile(f"^({_C})?{_V}{_C}")
_MEASURE_EXACT_1 = re.compile(f"^({_C})?{_V}{_C}({_V})?$")
_MEASURE_2 = re.compile(f"^({_C})?{_V}{_C}{_V}{_C}")
_HAS_VOWEL = re.compile(f"^({_C})?{_VOWEL}")
_SHORT = re.compile(f"^{_C}{_VOWEL}[^aeiouwxy]$")

_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "sion", "tion", "ant", "ent", "ism", "ate", "iti", "ous", "ive",
    "ize", "al", "er", "ic", "ou",
)  # fmt: skip
_ENDINGS_2 = tuple(sorted(_STEP_2, key=len, reverse=True))
_ENDINGS_3 = tuple(sorted(_STEP_3, key=len, reverse=True))


def stem_english(word: str) -> str:
    """Return the stem of an English word: `dependencies` and `dependency` give `depend`-like equal forms."""
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word if word.isascii() else stem_plain(word)
    first = word[0]
    if first == "y":
        word = "Y" + word[1:]
    word = _plural(word)
    word = _past_and_gerund(word)
    if word.endswith("y") and _HAS_VOWEL.match(word[:-1]):
        word = word[:-1] + "i"
    word = _replace(word, _ENDINGS_2, _STEP_2)
    word = _replace(word, _ENDINGS_3, _STEP_3)
    word = _strip_suffix(word)
    if word.endswith("e"):
        base = word[:-1]
        if _MEASURE_2.match(base) or (_MEASURE_EXACT_1.match(base) and not _SHORT.match(base)):
            word = base
    if word.endswith("ll") and _MEASURE_2.match(word):
        word = word[:-1]
    return "y" + word[1:] if first == "y" else word


def _plural(word: str) -> str:
    if word.endswith("sses") or (word.endswith("ies") and len(word) > 3):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past_and_gerund(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _MEASURE_1.match(word[:-3]) else word
    base = word[:-2] if word.endswith("ed") else word[:-3] if word.endswith("ing") else ""
    if not base or not _HAS_VOWEL.match(base):
        return word
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if len(base) > 1 and base[-1] == base[-2] and base[-1] not in "aeiouylsz":
        return base[:-1]
    return base + "e" if _SHORT.match(base) else base


def _replace(word: str, endings: tuple[str, ...], table: dict[str, str]) -> str:
    for ending in endings:
        if word.endswith(ending):
            base = word[: -len(ending)]
            return base + table[ending] if _MEASURE_1.match(base) else word
    return word


def _strip_suffix(word: str) -> str:
    for ending in _STEP_4:
        if word.endswith(ending):
            kept = 1 if ending in ("sion", "tion") else 0  # the s or t belongs to the stem
            base = word[: len(word) - len(ending) + kept]
            return base if _MEASURE_2.match(base) else word
    return word


def stem_german(word: str) -> str:
    """Return the light stem of a German word: case, number and feminine endings go."""
    if len(word) < 4 or not word.isalpha():
        return word
    word = word.replace("ae", "a").replace("oe", "o").replace("ue", "u") if len(word) > 5 else word
    for ending in ("innen", "in", "ern", "em", "en", "er", "es", "e", "s", "n"):
        if word.endswith(ending) and len(word) - len(ending) >= (4 if ending in "sn" else 3):
            word = word[: -len(ending)]
            break
    if word.endswith(("est", "er", "en", "st")) and len(word) > 6:
        word = word[:-3] if word.endswith("est") else word[:-2]
    return word


_PLAIN_ENDINGS = tuple(
    sorted(
        # Latin plurals and verbs; Russian cases; Greek cases
        ("s", "es", "ами", "ями", "ого", "его", "ому", "ему", "ыми", "ими", "ов", "ев", "ей", "ий", "ый", "ой", "ая",
         "яя", "ое", "ее", "ые", "ие", "ам", "ям", "ах", "ях", "ом", "ем", "ть", "ет", "ют", "ит", "ят", "а", "я", "о",
         "е", "ы", "и", "у", "ю", "ь", "ουσ", "ων", "οσ", "ου", "οι", "εσ", "ησ", "ασ", "ια", "ει", "εισ", "ουν", "η",
         "α", "ο", "ι", "σ"),
        key=len,
        reverse=True,
    )
)  # fmt: skip


def stem_plain(word: str) -> str:
    """Return a word without the commonest endings of Latin, Cyrillic and Greek scripts; five letters stay."""
    if len(word) < 5 or not word.isalpha():
        return word
    for ending in _PLAIN_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word
