"""Asking: questions to the session, what it asks back, citations, example questions, the choice of a model."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.timer import Timer

from roamtui.errors import RoamError
from roamtui.text import redact
from roamtui.trace.state import Question, TraceState
from roamtui.tui.bridge import Bridge
from roamtui.tui.examples import questions_from_headings, questions_from_model
from roamtui.tui.reading import Reading, Spot
from roamtui.tui.widgets.answer import plain_answer
from roamtui.tui.widgets.rows import Action, Piece, Row, row
from roamtui.tui.widgets.status import BUILT_IN
from roamtui.tui.widgets.turns import group_citations

if TYPE_CHECKING:
    from roamtui.session import Session
    from roamtui.tui.screens.main import MainScreen
    from roamtui.tui.screens.picker import Picker

MODEL_HINT = "To have a model answer: roamtui DOC --model ollama_chat/qwen3, or choose one here (F4)."
"""The one line that tells how to use a model."""
_TICK = 0.5
"""Seconds between two updates of the times shown while a question runs."""


class Asking:
    """What the conversation does."""

    def __init__(self, screen: MainScreen, changed: Callable[[TraceState], None]) -> None:
        self._screen = screen
        self.bridge = Bridge(screen, changed=changed, crashed=self._crashed)
        self.examples: tuple[str, ...] = ()
        """Questions offered."""
        self._asked_at = 0.0
        self._sent_at = 0.0
        self._steps = 0
        self._clock: Timer | None = None
        self._dialog: Picker | None = None
        self._pending = ""
        self._opened = 0
        self._run = self._ended = ""
        self._waiting_question = ""

    # -- questions ----------------------------------------------------------------------------

    def ask(self, question: str) -> bool:
        """Start on a question; one that comes before the document is ready waits for it."""
        if self.bridge.running:
            self._screen.say("The agent is at work; esc stops it.")
            return False
        if self.bridge.session is None:
            self._waiting_question = question
            self._screen.say("The document is still being read; the question is next.")
            return True
        self._screen.workers.cancel_group(self._screen, "examples")  # a slow model has one thing to do at a time
        self._asked_at = self._sent_at = time.monotonic()
        self._steps = 0
        self.bridge.ask(question)
        if self._clock is None:
            self._clock = self._screen.set_interval(_TICK, self._tick)
        return True

    def attach(self, session: Session) -> None:
        """Ask this session from now on."""
        self.bridge.attach(session)
        if self._waiting_question:
            question, self._waiting_question = self._waiting_question, ""
            self.ask(question)

    def retry(self) -> None:
        """Ask the last question again."""
        questions = self.bridge.state.questions
        if questions:
            self.ask(questions[-1].text)
        else:
            self._screen.say("Nothing was asked yet.")

    @property
    def seconds(self) -> int:
        """Whole seconds since the running question was asked."""
        return int(time.monotonic() - self._asked_at) if self.bridge.running else 0

    @property
    def waiting(self) -> int:
        """Whole seconds since the running request went out."""
        return int(time.monotonic() - self._sent_at) if self.bridge.running else 0

    def _tick(self) -> None:
        self.bridge.touch()
        if not self.bridge.running and self._clock is not None:
            self._clock.stop()
            self._clock = None

    def _crashed(self, error: Exception) -> None:
        self._screen.crashed(error)

    # -- following the run --------------------------------------------------------------------

    def follow(self, state: TraceState, reading: Reading) -> None:
        """Bring into view what the agent opens, ask what it asks, mark what it quotes."""
        self._answer_dialog(state)
        question = state.questions[-1] if state.questions else None
        if question is None:
            return
        if len(question.steps) != self._steps:
            self._steps, self._sent_at = len(question.steps), time.monotonic()
        self._follow_openings(state, question)
        if question.outcome != "running" and question.run != self._ended:
            self._ended = question.run
            self._show_evidence(question)

    def _show_evidence(self, question: Question) -> None:
        """Mark the words an answer quotes, and bring the first of them into view."""
        quotes = [(item.id, item.quote) for item in question.citations if item.holds and item.quote]
        self._screen.sections.show_quotes(quotes)
        if quotes and self._screen.arrangement.pane != "sections":
            self._screen.outline.reveal(quotes[0][0], pulse=False)
            self._screen.sections.go_to_quote(*quotes[0], flash=False)

    def _follow_openings(self, state: TraceState, question: Question) -> None:
        opening = [ref for ref, section in state.sections.items() if section.opening]
        if opening:
            self._screen.outline.reveal(opening[-1])
        opened = question.opened
        if question.run != self._run:
            self._run, self._opened = question.run, 0
        if len(opened) > self._opened:
            first_new = opened[self._opened]
            self._opened = len(opened)
            self._screen.outline.reveal(first_new.id)
            if self._screen.arrangement.pane != "sections":
                self._screen.sections.go_to(first_new.id, flash=False)

    def _answer_dialog(self, state: TraceState) -> None:
        pending = state.pending
        if pending is None or pending.request == self._pending:
            if pending is None and self._dialog is not None and self._dialog.is_current:
                self._dialog.dismiss(None)
            self._dialog = self._dialog if pending is not None else None
            return
        self._pending = pending.request
        request = pending.request

        def answered(answer: str | None) -> None:
            self._dialog = None
            if answer is None:
                self.bridge.reply(request, "", refused="The user closed the question without an answer.")
            else:
                self.bridge.reply(request, answer)

        from roamtui.tui.screens.dialogs import ask_user_dialog

        self._dialog = ask_user_dialog(pending)
        self._screen.app.push_screen(self._dialog, answered)

    # -- the conversation ---------------------------------------------------------------------

    def activate(self, action: Action, reading: Reading) -> None:
        """Do what was clicked in the conversation."""
        match action:
            case ("reveal", ref):
                reading.visit(Spot(ref))
            case ("cite", run, number):
                self._go_to_citation(run, int(number), reading)
            case ("fill", question):
                self._screen.fill_prompt(question)
            case ("retry",):
                self.retry()
            case ("inspect", run, step):
                self._screen.show_trace((run, int(step)))
            case ("command", name):
                self._screen.action_command(name)
            case _:
                pass

    def show_step(self, run: str, step: int) -> None:
        """Bring what a step opened into view."""
        question = next((item for item in self.bridge.state.questions if item.run == run), None)
        opened = [item for item in question.opened if item.step == step] if question is not None else []
        if opened:
            self._screen.outline.reveal(opened[0].id)
            self._screen.sections.go_to(opened[0].id)

    def _go_to_citation(self, run: str, number: int, reading: Reading) -> None:
        question = next((item for item in self.bridge.state.questions if item.run == run), None)
        cited = dict(group_citations(question)).get(number) if question is not None else None
        if cited is None:
            return
        if not cited.path:
            self._screen.say("That section does not exist.")
            return
        reading.visit(Spot(cited.id, cited.first_line or None, cited.quote if cited.status == "exact" else ""))

    def answer_text(self, reading: Reading) -> str:
        """Return the last answer as Markdown, its citations as titles and lines; empty when there is none."""
        answered = [item for item in self.bridge.state.questions if item.answer.strip()]
        if not answered:
            return ""
        places: list[str] = []
        for item in answered[-1].citations:
            lines = (
                f"L{item.first_line}" if item.first_line == item.last_line else f"L{item.first_line}–{item.last_line}"
            )
            title = item.path[-1] if item.path else "unknown section"
            places.append(f"{title}, {lines}" if item.holds else f"{title}, not supported")
        return plain_answer(answered[-1].answer, places, reading.title)

    # -- examples and models ------------------------------------------------------------------

    def intro(self) -> list[Row]:
        """Return what the conversation shows above the first question."""
        session = self.bridge.session
        rows: list[Row] = []
        if session is None or session.model.maker == "guide":
            words = "No model: the built-in guide searches, opens sections and answers in quotes. "
            rows.append(row(Piece(words, "muted"), Piece(MODEL_HINT, "muted")))
        else:
            words = f"{session.model.name} answers. Questions, outline and opened sections are sent to it."
            rows.append(row(Piece(words, "muted")))
        if self.examples:
            rows += [row(), row(Piece("You could ask", "label"))]
            rows += [row(Piece("→ ", "muted"), Piece(text, "link", ("fill", text)), hang=2) for text in self.examples]
        return [*rows, row()]

    def offer_examples(self, session: Session) -> None:
        """Show questions made of headings now, a chosen model's own as soon as it has them."""
        self.examples = questions_from_headings(session.library)
        self._screen.show_intro()
        if session.model.maker not in BUILT_IN:
            work = self._better_examples(session)
            self._screen.run_worker(work, group="examples", exclusive=True, exit_on_error=False)

    async def _better_examples(self, session: Session) -> None:
        model = session.model
        try:
            questions = await questions_from_model(model, session.outline.text)
        except RoamError as error:
            self._screen.log.info(f"no example questions: {redact(error.message)}")
            return
        if session.model is model:
            self.examples = questions
            self._screen.show_intro()
