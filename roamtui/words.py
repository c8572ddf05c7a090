"""Words of a text, made comparable: folded, stemmed, cut into bigrams where a script has no spaces.

The search index, its snippets and the built-in guide use the same words, so that what one finds the
others recognise. A `Lexicon` knows one language; `lexicon_for` guesses it from function words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

import regex

from roamtui.stemming import stem_english, stem_german, stem_plain

_CJK = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}ー々\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_ASCII_WORDS = "".join(chr(code).lower() if chr(code).isalnum() else " " for code in range(128))
"""Translation that leaves lower-case words between spaces; twice as fast as a regular expression."""
_SIMPLE = re.compile("[\0-\u012f\u0131-\u02ff\u0370-\u0482\u048a-\u052f\u1e00-\u2bff]*")
"""Latin, Greek and Cyrillic without combining marks: words are runs of what Python calls letters and digits."""
_SIMPLE_WORD = re.compile(r"[^\W_]+")
_WORD = regex.compile(rf"[{_CJK}]+|[[\p{{L}}\p{{N}}\p{{M}}]--[{_CJK}]]+", regex.VERSION1)
_UNSPACED = regex.compile(rf"[{_CJK}]", regex.VERSION1)
_KANA_STOP = re.compile("[\u3041-\u309f].|.[はがをにのでともへやか]")
"""Bigrams that start in Japanese endings or end in a particle: they straddle words."""
_MARKS = re.compile("[\u0300-\u036f]")
_RESIDUE = re.compile(r"[\s!-/:-@\[-`{-~\u2044]")
"""What compatibility forms fall apart into beside letters and digits."""
_MEMORY = 400_000
"""Distinct words remembered with their stem; beyond it the memory starts anew."""


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH = _listed(
    """a about above after again against all also am an and any are aren as at be because been before being below
    between both but by can cannot could couldn did didn do does doesn doing don down during each either else
    even ever every few for from further get gets getting give given go goes going got had hadn has hasn have
    haven having he her here hers herself him himself his how however i if in into is isn it its itself just
    let lets like ll may me might more most much must my myself need needs no nor not now of off on once one
    only onto or other others ought our ours ourselves out over own per please put rather re same shall shan
    she should shouldn since so some somebody someone something such take tell than that the their theirs them
    themselves then there these they thing things this those through thus to too toward under until up upon us
    use used uses using ve very via want wants was wasn way we were weren what whatever when where whether
    which while who whom whose why will with within without won would wouldn yes yet you your yours yourself
    yourselves explain describe show find give list mention mentioned say says said"""
)
GERMAN = _listed(
    """aber alle allem allen aller alles als also am an ander andere anderen anderer anderes auch auf aus bei bin bis
    bist da dabei dadurch dafür daher damit dann daran darauf darf darfst dürfen das dass dein deine dem den
    denn der deren des dessen die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem
    einen einer eines einfach er es etwas euer für gegen gibt hab habe haben hat hatte hier hin ich ihm ihn
    ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jede jedem jeden jeder jedes jene kann kannst können
    könnte man mehr mein meine mit muss müssen nach nicht nichts noch nun nur ob oder ohne sehr sein seine
    seinem seinen seiner sich sie sind so soll sollen sondern sonst über um und uns unser unter viel vom von
    vor wann war waren warum was weil welche welchem welchen welcher welches wem wen wenn wer werde werden
    wessen wie wieder will wir wird wo woher wohin wurde wurden zu zum zur zwar zwischen"""
)
OTHER = _listed(
    """le la les un une des du de et est sont dans pour par sur avec que qui quoi quel quelle quels quelles ce cette
    ces comment pourquoi où quand el los las una unos unas y en con por para del se su sus qué cuál cómo
    cuándo dónde quién il lo gli di che non è come chi cosa perché quando dove o os as um uma e do da dos das
    em no na que como het een van voor met niet wat hoe wie waar и в во не что он на я с со как а то все она
    так его но да ты к у же вы за бы по ее мне было вот от меня о из ему что какой какие где когда кто почему
    ли это για και το τα τη την της του των τον ο η οι με σε από στο στη στην στα στις να θα δεν που πως πώς
    τι ποιο ποια ποιος είναι ένα μια ή"""
)
_CJK_STOP = _listed(
    """です ます する した して から まで こと もの ない ある いる れる られ には では とは って
    ので のか です すか ます ですか 何で どう うす れば たい なに なん どの いつ どこ だれ 什么
    怎么 如何 是否 哪些 哪个 哪里 为什 这个 那个 可以 我们 你们 他们"""
)


class Word(NamedTuple):
    """One word of a text and where it stands, in characters."""

    token: str
    start: int
    end: int


class _Stems(dict[str, str]):
    """Word to token, worked out once per distinct word."""

    def __init__(self, stem: Callable[[str], str]) -> None:
        super().__init__()
        self._stem = stem

    def __missing__(self, word: str) -> str:
        if len(self) >= _MEMORY:
            self.clear()
        token = self[word] = self._stem(_RESIDUE.sub("", fold(word)))
        return token


def fold(text: str) -> str:
    """Return a text without case and without diacritics of Latin, Greek and Cyrillic letters."""
    if text.isascii():
        return text.lower()
    flat = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", _MARKS.sub("", flat))


class Lexicon:
    """The words of one language: tokens of a text, and which of them carry no subject."""

    def __init__(self, language: str, stem: Callable[[str], str], stops: frozenset[str]) -> None:
        self.language = language
        """`en`, `de` or `other`."""
        self._stems = _Stems(stem)
        self._stops = {self._stems[word] for word in stops} | _CJK_STOP

    def tokens(self, text: str) -> list[str]:
        """Return the tokens of `text`, in order."""
        if text.isascii():
            return list(map(self._stems.__getitem__, text.translate(_ASCII_WORDS).split()))
        if _SIMPLE.fullmatch(text):
            return list(map(self._stems.__getitem__, _SIMPLE_WORD.findall(text.lower())))
        found: list[str] = []
        for run in _WORD.findall(text):
            if run.isascii() or not _UNSPACED.match(run):
                found.append(self._stems[run.lower()])
            elif len(run) < 3:
                found.append(run)
            else:
                found.extend(run[i : i + 2] for i in range(len(run) - 1))
        return found

    def words(self, text: str) -> Iterator[Word]:
        """Yield the tokens of `text` with their places, in order; bigrams overlap."""
        for match in _WORD.finditer(text):
            run, start = match.group(), match.start()
            if run.isascii() or not _UNSPACED.match(run):
                yield Word(self._stems[run.lower()], start, match.end())
            elif len(run) < 3:
                yield Word(run, start, match.end())
            else:
                for i in range(len(run) - 1):
                    yield Word(run[i : i + 2], start + i, start + i + 2)

    def is_stop(self, token: str) -> bool:
        """Tell whether a token carries no subject: function words, lone letters, Japanese endings and particles."""
        if token in self._stops or (len(token) == 1 and token.isascii() and not token.isdigit()):
            return True
        return len(token) == 2 and _KANA_STOP.fullmatch(token) is not None


@cache
def lexicon(language: str) -> Lexicon:
    """Return the lexicon of `en`, `de` or `other`."""
    if language == "en":
        return Lexicon("en", stem_english, ENGLISH)
    if language == "de":
        return Lexicon("de", stem_german, GERMAN)
    return Lexicon("other", stem_plain, ENGLISH | GERMAN | OTHER)


def lexicon_for(text: str) -> Lexicon:
    """Return the lexicon of the language whose function words `text` uses most."""
    words = re.findall(r"[^\W\d_]{2,}", text[:40_000].lower())
    english = sum(word in ENGLISH for word in words)
    german = sum(word in GERMAN for word in words)
    other = sum(word in OTHER for word in words)
    if german > english and german >= other:
        return lexicon("de")
    if other > 1.5 * english:
        return lexicon("other")
    return lexicon("en")
