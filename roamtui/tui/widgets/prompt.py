"""The input line for questions, with the earlier ones a key away."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from roamtui.text import display, redact
from roamtui.tui.widgets.field import Field

MOST_QUESTIONS = 500
"""Earlier questions that are kept."""
LONGEST = 10_000
"""Characters of a question."""


class QuestionHistory:
    """Questions asked before, oldest first, in a file of JSON lines that only its owner can read."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.questions: list[str] = []
        """Without repeats in a row."""

    def load(self) -> None:
        """Read the file. Blocks; meant for a thread. What cannot be read counts as nothing."""
        if self._path is None:
            return
        try:
            with self._path.open("rb") as file:
                data = file.read(MOST_QUESTIONS * LONGEST)
        except OSError:
            return
        found: list[str] = []
        for line in data.splitlines():
            try:
                text = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(text, str) and text.strip() and text not in found[-1:]:
                found.append(text[:LONGEST])
        self.questions = [*found[-MOST_QUESTIONS:], *self.questions]

    def add(self, question: str) -> None:
        """Remember a question, and write it down where that is possible."""
        if self.questions[-1:] == [question]:
            return
        self.questions.append(question)
        if self._path is None:
            return
        line = json.dumps(redact(question)) + "\n"
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(line)
        except OSError:
            self._path = None  # a read-only home: questions are remembered until the program ends


class Prompt(Field):
    """One line to type a question in. Up and down go through the earlier ones."""

    DEFAULT_CSS = """
    Prompt {
        width: 1fr;
        height: 1;
        border: none;
        padding: 0;
        background: $surface;
        &:focus { border: none; background: $surface; }
        & > .input--placeholder { color: $text-muted; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "earlier", "Earlier question", show=False, id="prompt.earlier"),
        Binding("down", "later", "Later question", show=False, id="prompt.later"),
    ]

    class Asked(Message):
        """A question was entered."""

        def __init__(self, prompt: Prompt, question: str) -> None:
            super().__init__()
            self.prompt = prompt
            self.question = question

        @property
        def control(self) -> Prompt:
            """The input line."""
            return self.prompt

    def __init__(self, history: QuestionHistory, *, id: str | None = None) -> None:
        super().__init__(placeholder="Ask…", id=id, max_length=LONGEST)
        self._history = history
        self._back = 0
        """How many questions back the shown one is; 0 is what was being typed."""
        self._typed = ""

    def fill(self, question: str) -> None:
        """Put a question into the line, to be changed or sent."""
        self.value = display(question, newlines=False)[:LONGEST]
        self.cursor_position = len(self.value)
        self._back = 0

    async def _on_key(self, event: events.Key) -> None:
        """Take enter here: by way of a binding it would come after letters that were typed after it."""
        if event.key != "enter":
            return
        event.stop()
        event.prevent_default()
        question = self.value.strip()
        if question:
            self.value, self._back, self._typed = "", 0, ""
            self.post_message(self.Asked(self, question))

    def sent(self, question: str) -> None:
        """Remember a question that is being worked on."""
        self._history.add(question)

    def give_back(self, question: str) -> None:
        """Put a question back that could not be worked on, unless another one is being typed."""
        self.value = self.value or question
        self.cursor_position = len(self.value)

    def action_earlier(self) -> None:
        """Show the question before."""
        self._go(self._back + 1)

    def action_later(self) -> None:
        """Show the question after; behind the last stands what was being typed."""
        self._go(self._back - 1)

    def _go(self, back: int) -> None:
        questions: Sequence[str] = self._history.questions
        if not 0 <= back <= len(questions):
            return
        if self._back == 0:
            self._typed = self.value
        self._back = back
        self.value = self._typed if back == 0 else display(questions[-back], newlines=False)
        self.cursor_position = len(self.value)
