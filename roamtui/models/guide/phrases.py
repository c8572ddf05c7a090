"""The guide's own words, in the language of the question. It says what it does: search, open, quote."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phrases:
    """Everything the guide ever says by itself."""

    best: str
    """Before quotes that match the question."""
    nearest: str
    """Before quotes that only come near."""
    overview: str
    """Before the document's first sentences."""
    parts: str
    """Before the titles of its parts."""
    nothing: str
    """When there is nothing to quote and no tool to give up with."""
    found: str
    """Reason for opening a section."""
    mentions: str
    """The same, with {words}."""
    reads_on: str
    """Reason for another part, with {title}."""
    tried: str
    """What was done before giving up, with {queries} and {titles}."""
    missing: str
    """What was not found, with {words}."""
    suggestion: str
    """A question the document can answer, with {title}."""


_ENGLISH = Phrases(
    best="These passages match best:",
    nearest="Nothing matches the question closely. These passages come nearest:",
    overview="The document begins like this:",
    parts="Its main parts:",
    nothing="None of the open sections says anything about it.",
    found="found by the search",
    mentions="mentions {words}",
    reads_on="reads on in “{title}”",
    tried="Searched for {queries}; opened {titles}.",
    missing="No passage that holds: {words}.",
    suggestion="What does “{title}” say?",
)
_GERMAN = Phrases(
    best="Diese Stellen passen am besten:",
    nearest="Nichts passt genau auf die Frage. Am nächsten kommen diese Stellen:",
    overview="So beginnt das Dokument:",
    parts="Seine Hauptteile:",
    nothing="In den offenen Abschnitten steht dazu nichts.",
    found="von der Suche gefunden",
    mentions="erwähnt {words}",
    reads_on="liest in „{title}“ weiter",
    tried="Gesucht: {queries}; geöffnet: {titles}.",
    missing="Keine Stelle enthält: {words}.",
    suggestion="Was steht unter „{title}“?",
)
_JAPANESE = Phrases(
    best="最も近い箇所は次のとおりです:",
    nearest="質問にぴったり合う箇所はありません。最も近い箇所は次のとおりです:",
    overview="文書の冒頭は次のとおりです:",
    parts="主な章:",
    nothing="開いた節には該当する記述がありません。",
    found="検索で見つかった節",
    mentions="{words} に触れている",
    reads_on="「{title}」の続きを読む",
    tried="検索: {queries}; 開いた節: {titles}",
    missing="該当する箇所がない語: {words}",
    suggestion="「{title}」には何が書いてありますか?",
)
_CHINESE = Phrases(
    best="最相符的段落如下:",
    nearest="没有与问题完全相符的段落。最接近的如下:",
    overview="文档开头如下:",
    parts="主要部分:",
    nothing="已打开的章节中没有相关内容。",
    found="搜索到的章节",
    mentions="提到{words}",
    reads_on="继续读“{title}”",
    tried="已搜索: {queries}; 已打开: {titles}",
    missing="没有段落包含: {words}",
    suggestion="“{title}”一节说了什么?",
)
_GREEK = Phrases(
    best="Αυτά τα αποσπάσματα ταιριάζουν καλύτερα:",
    nearest="Τίποτα δεν ταιριάζει ακριβώς. Τα πιο κοντινά αποσπάσματα:",
    overview="Το έγγραφο αρχίζει έτσι:",
    parts="Τα κύρια μέρη του:",
    nothing="Οι ανοιχτές ενότητες δεν λένε τίποτα γι' αυτό.",
    found="βρέθηκε από την αναζήτηση",
    mentions="αναφέρει {words}",
    reads_on="συνεχίζει στην ενότητα «{title}»",
    tried="Αναζητήθηκαν: {queries}· ανοίχτηκαν: {titles}.",
    missing="Κανένα απόσπασμα δεν περιέχει: {words}.",
    suggestion="Τι λέει η ενότητα «{title}»;",
)
_GERMAN_WORDS = re.compile(
    r"\b(?:der|die|das|ein|eine|ist|wie|was|wer|wo|wann|warum|welche[rsnm]?|darf|kann|muss|und|nicht|gibt|ich|man|wird|werden)\b",
    re.I,
)
_ENGLISH_WORDS = re.compile(
    r"\b(?:the|a|an|is|are|how|what|who|where|when|why|which|do|does|can|must|and|not|of|to|in)\b", re.I
)


def phrases_for(question: str) -> Phrases:
    """Return the phrases in the question's language; English when it is none of those known."""
    if re.search("[\u3040-\u30ff]", question):
        return _JAPANESE
    if re.search("[\u4e00-\u9fff]", question):
        return _CHINESE
    if re.search("[\u0370-\u03ff\u1f00-\u1fff]", question):
        return _GREEK
    german = len(_GERMAN_WORDS.findall(question))
    return _GERMAN if german > len(_ENGLISH_WORDS.findall(question)) else _ENGLISH
