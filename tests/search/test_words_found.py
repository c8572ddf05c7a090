"""What people and agents find by words: inflections, other scripts, odd queries."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.document.model import Library
from roamtui.search.index import Found, Index
from roamtui.search.lexical import LexicalIndex
from roamtui.text import is_displayable, width
from tests.support.documents import GARDEN, document, library, ref

LIBRARY = """\
# Handbook

Everything about the project.

## Dependencies

All dependencies are pinned; a dependency is updated once a month.

## Travel

### Receipts

Keep receipts for every expense above $75 (100% of them!).

### Cancelled trains

If the train is cancelled, take the next one. The two-thirds rule does not apply.

## Meetings

A motion needs a majority of two thirds. One third may postpone it.

## Empty
"""
SCRIPTS = {
    "chinese": (
        "# 手册\n\n## 安装\n\n请先下载软件包，然后运行安装程序。\n\n## 备份\n\n每天晚上自动备份数据。\n",
        "数据",
        "备份",
    ),
    "japanese": (
        "# 手引き\n\n## 休暇\n\n有給休暇は事前に申請してください。\n\n## 経費\n\n領収書を保管します。\n",
        "領収書",
        "経費",
    ),
    "korean": ("# 안내\n\n## 여행\n\n영수증을 보관하세요.\n\n## 회의\n\n회의는 월요일에 있습니다.\n", "영수증", "여행"),
    "greek": (
        "# Οδηγός\n\n## Αρχεία\n\nΟι εντολές διαβάζουν αρχεία.\n\n## Δίκτυο\n\nΤο δίκτυο είναι αργό.\n",
        "εντολή",
        "Αρχεία",
    ),
    "russian": (
        "# Книга\n\n## Отпуск\n\nОтпуска согласуются заранее.\n\n## Оплата\n\nСчета оплачивают вовремя.\n",
        "оплата счетов",
        "Оплата",
    ),
    "german": (
        "# Gesetz\n\nDas ist ein Gesetz über die Wahl.\n\n## Wahl\n\nDer Bundeskanzler wird gewählt und ist still.\n\n"
        "## Amt\n\nDie Häuser stehen unter dem Schutz der Stadt, und das ist gut.\n",
        "Haus",
        "Amt",
    ),
    "arabic": ("# كتاب\n\n## السفر\n\nاحتفظ بالإيصالات دائما.\n\n## العمل\n\nيبدأ العمل صباحا.\n", "صباحا", "العمل"),
}


def index(of: Library) -> LexicalIndex:
    built = LexicalIndex(of)
    built.build()
    return built


@pytest.fixture(scope="module")
def handbook() -> tuple[Library, LexicalIndex]:
    of = library(LIBRARY)
    return of, index(of)


def titles(of: Library, found: list[Found]) -> list[str]:
    places = [of.find(item.ref) for item in found]
    return [place.section.title for place in places if place is not None]


def test_an_index_is_an_index() -> None:
    built: Index = LexicalIndex(library())
    before = built.ready
    assert built.search("beans") == []
    built.build()
    assert (before, built.ready) == (False, True)
    assert built.search("beans")


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("dependency", "Dependencies"),
        ("DEPENDENCY", "Dependencies"),
        ("pinning", "Dependencies"),
        ("expenses over 75", "Receipts"),
        ("cancel a train", "Cancelled trains"),
        ("recei", "Receipts"),  # a word that is still being typed
        ("reciepts", "Receipts"),  # two letters swapped
        ("two thirds majority", "Meetings"),
        ("empty", "Empty"),
    ],
)
def test_a_question_finds_the_section_that_speaks_of_it(
    handbook: tuple[Library, LexicalIndex], query: str, title: str
) -> None:
    of, built = handbook
    assert titles(of, built.search(query))[0] == title


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_script_is_served(script: str) -> None:
    text, query, title = SCRIPTS[script]
    of = library(text)
    assert titles(of, index(of).search(query))[0] == title


def test_a_german_word_is_found_inside_a_compound() -> None:
    of = library(SCRIPTS["german"][0])
    assert titles(of, index(of).search("Kanzler"))[0] == "Wahl"


def test_a_chinese_word_of_two_characters_is_found_anywhere_in_a_sentence() -> None:
    of = library("# 说明\n\n## 甲\n\n" + "无关的文字。" * 40 + "\n\n## 乙\n\n" + "别的内容，" * 20 + "缓存失效。\n")
    assert titles(of, index(of).search("缓存"))[0] == "乙"


ODD = [
    *('"', "'", "%", "_", "*", "receipts*", "NEAR(a b)", "a AND", "OR OR", "NOT", "title:receipts", "^a", "-x", "("),
    *("a\x00b", "receipts' OR 1=1 --", '"unclosed', "{a b}: c", "\ud800", "🙂", "", "   ", "+", "col : x"),
    *("a" * 5000, "x y " * 2000),
]


@pytest.mark.parametrize("query", ODD)
def test_odd_queries_are_only_words(handbook: tuple[Library, LexicalIndex], query: str) -> None:
    of, built = handbook
    found = built.search(query)
    if "receipts" in query:
        assert titles(of, found)[0] == "Receipts"


@given(st.text(max_size=60), st.integers(-1, 12))
def test_no_text_ever_breaks_a_search(query: str, k: int) -> None:
    found = _GARDEN_INDEX.search(query, k)
    assert len(found) <= max(0, k)
    assert all(is_displayable(item.snippet) and width(item.snippet) <= 160 for item in found)
    assert [item.score for item in found] == sorted((item.score for item in found), reverse=True)


_GARDEN_INDEX = index(library())


def test_a_query_of_a_megabyte_is_bounded() -> None:
    begun = time.perf_counter()
    found = _GARDEN_INDEX.search("beans climb " * 90_000)
    assert found
    assert time.perf_counter() - begun < 1


def test_the_snippet_shows_the_sentence_and_its_lines() -> None:
    of = library()
    (best, *_) = index(of).search("stake for tomatoes")
    assert best.ref == ref(of, "Garden", "Plants", "Tomatoes")
    assert best.snippet.startswith("Tomatoes need a stake of 150 cm.")
    lines = GARDEN.splitlines()[best.first_line - 1 : best.last_line]
    assert any("stake" in line for line in lines)


def test_a_large_section_is_found_once_by_its_best_passage() -> None:
    filler = "\n\n".join(f"Paragraph {number} speaks of weather and of nothing else at all." for number in range(900))
    of = library(
        f"# Book\n\n## Long\n\n{filler}\n\nThe treasure lies below the oak.\n\n{filler}\n\n## Short\n\nAn oak.\n"
    )
    found = index(of).search("treasure below the oak")
    assert titles(of, found)[0] == "Long"
    assert titles(of, found).count("Long") == 1
    assert "treasure" in found[0].snippet
    place = of.find(found[0].ref)
    assert place is not None
    line = place.document.slice(0, place.document.source.index(b"treasure")).count("\n") + 1
    assert found[0].first_line <= line <= found[0].last_line
    assert found[0].last_line - found[0].first_line < 40


def test_equal_sections_come_in_document_order() -> None:
    of = library("# A\n\n## One\n\nsame words here\n\n## One\n\nsame words here\n\n## One\n\nsame words here\n")
    found = index(of).search("same words")
    assert [item.first_line for item in found] == sorted(item.first_line for item in found)


def test_several_documents_and_grafted_pages_are_searched_together() -> None:
    of = library(GARDEN, "# Kitchen\n\n## Basil\n\nBasil stands on the sill.\n")
    built = index(of)
    assert titles(of, built.search("basil"))[0] == "Basil"
    of.graft(document("# Cellar\n\nPotatoes sleep here.\n", "cellar.md"), ref(of, "Kitchen"))
    before = built.ready
    built.build()
    assert (before, built.ready) == (False, True)
    assert titles(of, built.search("potatoes"))[0] == "Cellar"
    assert titles(of, built.search("beans"))[0] == "Beans"


def test_searching_while_building_sees_what_is_there_and_never_fails() -> None:
    text = "".join(f"## Section {number}\n\nWord{number} and common text.\n\n" for number in range(3000))
    built = LexicalIndex(library(text))
    told: list[tuple[int, int]] = []
    worker = threading.Thread(target=built.build, args=(lambda done, total: told.append((done, total)),))
    worker.start()
    while worker.is_alive():
        built.search("common text")
    worker.join()
    assert built.ready
    assert built.search("word2999")
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1][0] == told[-1][1] == len(text.encode())


def test_building_twice_at_once_indexes_everything_once() -> None:
    of = library("".join(f"## S{number}\n\nunique{number} text\n\n" for number in range(2000)))
    built = LexicalIndex(of)
    workers = [threading.Thread(target=built.build) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    found = built.search("unique77", 10)
    assert [item.ref for item in found].count(found[0].ref) == 1
    assert built.ready
