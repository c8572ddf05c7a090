"""Words made comparable: inflections meet, scripts without spaces are cut, and both readings agree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.words import fold, lexicon, lexicon_for


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "dependency dependencies"),
        ("en", "cancel cancelled cancels cancelling"),
        ("en", "optimize optimizes optimized optimization"),
        ("en", "Café cafe CAFÉ"),
        ("de", "Haus Häuser Hauses"),
        ("de", "Straße Strasse Straßen"),
        ("de", "Bundeskanzler Bundeskanzlers Bundeskanzlerin"),
        ("other", "εντολή εντολές ΕΝΤΟΛΗ"),
        ("other", "отпуск отпуска отпуском"),
    ],
)
def test_forms_of_one_word_are_one_token(language: str, words: str) -> None:
    assert len(set(lexicon(language).tokens(words))) == 1


@pytest.mark.parametrize(("language", "words"), [("en", "university universe universal x"), ("de", "Amt Art")])
def test_different_words_stay_apart(language: str, words: str) -> None:
    assert len(set(lexicon(language).tokens(words))) > 1


def test_scripts_without_spaces_are_cut_into_pairs() -> None:
    assert lexicon("other").tokens("使用Python編程 3本") == ["使用", "python", "編程", "3", "本"]
    assert lexicon("other").tokens("数据备份") == ["数据", "据备", "备份"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The cat sat on the mat and it was happy with what it had.", "en"),
        ("Die Katze saß auf der Matte und war mit dem zufrieden, was sie hatte.", "de"),
        ("Le chat est dans la maison et il ne sait pas pourquoi les chiens sont avec lui.", "other"),
        ("", "en"),
    ],
)
def test_the_language_is_told_by_function_words(text: str, language: str) -> None:
    assert lexicon_for(text).language == language


def test_function_words_and_japanese_endings_carry_no_subject() -> None:
    english, other = lexicon("en"), lexicon("other")
    assert [token for token in english.tokens("What is the capital of it?") if not english.is_stop(token)] == ["capit"]
    assert [token for token in other.tokens("領収書の保管は?") if not other.is_stop(token)] == ["領収", "収書", "保管"]


@given(st.text(max_size=80), st.sampled_from(["en", "de", "other"]))
def test_both_readings_of_a_text_agree(text: str, language: str) -> None:
    known = lexicon(language)
    words = list(known.words(text))
    assert known.tokens(text) == [word.token for word in words]
    assert all(0 <= word.start < word.end <= len(text) for word in words)
    assert not any(set(word.token) & set(' "*^:()\t\n') for word in words)


@given(st.text(max_size=20))
def test_folding_twice_changes_nothing(word: str) -> None:
    assert fold(fold(word)) == fold(word)
