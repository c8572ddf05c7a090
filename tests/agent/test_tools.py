"""Reading tool calls: whatever a model writes, a call or a sentence for it comes back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.agent.tools import (
    MAX_IDS,
    AskUser,
    BadCall,
    Expand,
    GiveUp,
    ListChildren,
    Search,
    looks_like_call,
    parse_call,
)
from roamtui.models.base import ToolCall


def call(name: str, arguments: object) -> object:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return parse_call(ToolCall("c1", name, text))


def test_a_proper_call_is_understood() -> None:
    found = call(
        "expand_section",
        {
            "section_ids": ["07f3277d", "d4c192e2"],
            "reason": "names the models",
            "judged": [{"id": "855e11c9", "helpful": "no", "missing": "the window"}],
        },
    )
    assert isinstance(found, Expand)
    assert found.ids == ("07f3277d", "d4c192e2")
    assert found.reason == "names the models"
    assert [(item.id, item.helpful, item.missing) for item in found.judged] == [("855e11c9", "no", "the window")]


@pytest.mark.parametrize(
    "written",
    ["07F3277D", ' "07f3277d" ', "[07f3277d]", "0x07f3277d", "`07f3277d`", "#07f3277d"],
)
def test_an_id_in_other_clothes_is_the_same_id(written: str) -> None:
    found = call("expand_section", {"ids": [written]})
    assert isinstance(found, Expand)
    assert found.ids == ("07f3277d",)


def test_one_id_as_a_string_and_a_part_behind_a_colon() -> None:
    found = call("expand_section", {"section_id": "07f3277d:3"})
    assert isinstance(found, Expand)
    assert found.ids == ("07f3277d",)
    assert found.part == 3


def test_repeated_ids_are_merged_and_five_hundred_are_capped() -> None:
    same = call("expand_section", {"section_ids": ["07f3277d"] * 50})
    assert isinstance(same, Expand)
    assert same.ids == ("07f3277d",)
    assert same.dropped == 0
    many = call("expand_section", {"section_ids": [f"{number:08x}" for number in range(500)]})
    assert isinstance(many, Expand)
    assert len(many.ids) == MAX_IDS
    assert many.dropped == 492


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("", "{}"),
        ("delete_everything", "{}"),
        ("expand_section", "{"),
        ("expand_section", "[]"),
        ("expand_section", "null"),
        ("expand_section", "3"),
        ("expand_section", "{}"),
        ("expand_section", '{"section_ids": []}'),
        ("expand_section", '{"section_ids": [null, {}]}'),
        ("expand_section", "[" * 100_000),
        ("expand_section", '{"section_ids": "' + "a" * 10_000_000 + '"}'),
        ("search_sections", '{"query": "  "}'),
        ("list_children", '{"id": 3}'),
        ("ask_user", "{}"),
    ],
)
def test_a_broken_call_gets_a_sentence(name: str, arguments: str) -> None:
    found = call(name, arguments)
    assert isinstance(found, BadCall)
    assert found.message.endswith(".")


def test_the_other_tools() -> None:
    assert call("search_sections", {"query": " mutex ", "k": 99}) == Search(query="mutex", k=10)
    assert call("list_children", {"id": "[07f3277d]"}) == ListChildren(id="07f3277d")
    assert call("ask_user", {"question": "Which one?", "options": ["a", "b"]}) == AskUser(
        question="Which one?", options=("a", "b")
    )
    assert call("give_up", {"tried": "x", "missing": "y", "suggestions": ["1?", "2?", "3?", "4?"]}) == GiveUp(
        tried="x", missing="y", suggestions=("1?", "2?", "3?")
    )


def test_a_call_encoded_twice_is_understood() -> None:
    assert call("search_sections", json.dumps(json.dumps({"query": "mutex"}))) == Search(query="mutex")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)


@given(
    st.sampled_from(["expand_section", "search_sections", "list_children", "give_up", "ask_user", "", "x"]),
    st.one_of(
        st.text(max_size=60),
        _JSON.map(json.dumps),
        st.dictionaries(
            st.sampled_from(["section_ids", "ids", "reason", "part", "judged", "query", "k", "id", "question"]), _JSON
        ).map(json.dumps),
    ),
)
def test_no_call_whatever_raises(name: str, arguments: str) -> None:
    found = parse_call(ToolCall("c", name, arguments))
    if isinstance(found, Expand):
        assert 1 <= len(found.ids) <= MAX_IDS
        assert len(set(found.ids)) == len(found.ids)


def test_a_call_written_as_text_is_recognised() -> None:
    assert looks_like_call('{"name": "expand_section", "arguments": {"section_ids": ["07f3277d"]}}')
    assert looks_like_call("<tool_call>{}</tool_call>")
    assert not looks_like_call('The tool is called {"name": "expand_section"} in the text.')
