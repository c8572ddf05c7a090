"""Small dialogs: what the model asks, which model to use, earlier questions, another document."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from roamtui.models.providers import key_name, providers_with_keys
from roamtui.text import one_line
from roamtui.trace.state import PendingInput
from roamtui.tui.screens.picker import MOST_SHOWN, Choice, Picker, among

_READABLE = frozenset((".md", ".markdown", ".mdx", ".txt", ".rst", ".text", ""))


def ask_user_dialog(pending: PendingInput) -> Picker:
    """Return a dialog with the model's question to the user; typed words are an answer too."""
    return Picker(
        "The model asks you",
        among([Choice(option, option) for option in pending.options]),
        note=pending.question,
        placeholder="type an answer" if not pending.options else "choose, or type an answer",
        free="answer",
        careful=True,
    )


def model_dialog(environ: Mapping[str, str], current: str) -> Picker:
    """Return a dialog that gives a model's name; `guide` is the one that needs no model.

    Nothing is sent by choosing: the first question does that.
    """
    choices = [Choice("guide", "guide (no model)", "finds and quotes, does not reason; nothing is sent anywhere")]
    for provider in providers_with_keys(environ):
        detail = f"{provider.title}: {key_name(provider, environ)} is set; questions and opened text are sent there"
        choices.append(Choice(provider.suggested, provider.suggested, detail))
    if current not in [choice.value for choice in choices]:
        choices.insert(0, Choice(current, current, "in use now"))
    return Picker(
        "Who answers",
        among(choices),
        note="Model names are litellm's: anthropic/…, openai/…, ollama_chat/… for a server of your own.",
        placeholder="choose, or type a model's name",
        free="use",
    )


def question_dialog(title: str, questions: Sequence[str], note: str = "") -> Picker:
    """Return a dialog that gives one of some questions."""
    return Picker(title, among([Choice(text, text) for text in questions]), note=note, placeholder="type to search")


def link_dialog(address: str) -> Picker:
    """Return a dialog that gives `open`, `copy`, or nothing, for a web address."""
    choices = [
        Choice("copy", "Copy the address"),
        Choice("open", "Open it in the browser", "it leaves this program"),
    ]
    return Picker("A link in the document", among(choices), note=address, careful=True)


def document_dialog() -> Picker:
    """Return a dialog that gives the path of a document."""
    return Picker("Open document", _paths, placeholder="path, or sample:manual", free="open")


def _paths(typed: str) -> Sequence[Choice]:
    """Return folders and readable files that continue the typed path."""
    folder, _, begun = typed.rpartition("/")
    start = Path(os.path.expanduser(folder + "/" if "/" in typed else "."))
    found: list[Choice] = []
    try:
        with os.scandir(start) as entries:
            for entry in sorted(entries, key=lambda item: item.name.lower()):
                if entry.name.startswith(".") or not entry.name.lower().startswith(begun.lower()):
                    continue
                is_folder = entry.is_dir()
                if is_folder or Path(entry.name).suffix.lower() in _READABLE:
                    path = f"{folder}/{entry.name}" if "/" in typed else entry.name
                    found.append(Choice(path, one_line(path) + ("/" if is_folder else "")))
                if len(found) >= MOST_SHOWN:
                    break
    except (OSError, ValueError):
        return []
    return found
