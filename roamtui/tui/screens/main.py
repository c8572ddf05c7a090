"""The main screen: outline, sections and conversation, driven by the table of commands."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingsMap
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.worker import get_current_worker

from roamtui.crash import write_note
from roamtui.document.model import Library
from roamtui.estimate import estimate_tokens
from roamtui.text import redact
from roamtui.trace.state import TraceState
from roamtui.tui import safe
from roamtui.tui.asking import Asking
from roamtui.tui.commands import BY_ID, COMMANDS, Where
from roamtui.tui.finding import Finding, Found, Wanted
from roamtui.tui.keymap import Keymap, is_active
from roamtui.tui.layout import BREAKPOINTS, PANES, Arrangement, Pane, band_of
from roamtui.tui.reading import Reading
from roamtui.tui.verbs import Verbs
from roamtui.tui.widgets.chat import ChatLog
from roamtui.tui.widgets.findbar import FindBar
from roamtui.tui.widgets.keybar import KeyBar, PaneBar, PaneTitle
from roamtui.tui.widgets.outline import OutlinePane
from roamtui.tui.widgets.prompt import Prompt, QuestionHistory
from roamtui.tui.widgets.sections import SectionsPane
from roamtui.tui.widgets.splitter import Splitter
from roamtui.tui.widgets.status import Facts, HeaderLine
from roamtui.tui.widgets.tracestrip import TraceStrip

if TYPE_CHECKING:
    from roamtui.session import Session
    from roamtui.tui.app import RoamApp

_SAMPLE = 64_000
"""Bytes by which the tokens of a document are estimated."""


class MainScreen(Screen[None]):
    """Shows one library and one session; `reading`, `finding` and `asking` do the work."""

    HORIZONTAL_BREAKPOINTS = BREAKPOINTS

    def __init__(self, keymap: Keymap, history: QuestionHistory, facts: Facts) -> None:
        # the class of the width it will probably have: another one costs a second styling of everything
        super().__init__(id="main", classes=band_of(shutil.get_terminal_size().columns))
        self.keymap = keymap
        self.history = history
        self.facts = facts
        self._bindings = BindingsMap(_bindings(keymap))
        self.header = HeaderLine(id="header")
        self.outline = OutlinePane(id="outline")
        self.sections = SectionsPane(id="sections")
        self.find_bar = FindBar(id="find")
        self.strip = TraceStrip(id="strip")
        self.log_view = ChatLog(self._title, id="log")
        self.prompt = Prompt(history, id="prompt")
        self.keybar = KeyBar(id="keys")
        self.pane_bar = PaneBar(PANES, id="panes-bar")
        self.titles: dict[Pane, PaneTitle] = {name: PaneTitle(title) for name, title in PANES}
        self.arrangement = Arrangement(self)
        self.asking = Asking(self, self.show_state)
        self.reading = Reading(self, self.asking.bridge.tell)
        self.finding = Finding(self, self.reading)
        self.verbs = Verbs(self)

    def compose(self) -> ComposeResult:
        """Lay out everything; the style sheet arranges it by width."""
        yield self.header
        yield self.pane_bar
        with Horizontal(id="body"):
            with Vertical(id="reading"):
                with Horizontal(id="panes"):
                    with _box("outline"):
                        yield self.titles["outline"]
                        yield self.outline
                    yield Splitter("outline-box", id="split-outline")
                    with _box("sections"):
                        yield self.titles["sections"]
                        yield self.find_bar
                        yield self.sections
                yield self.strip
            yield Splitter("chat-box", after=True, id="split-chat")
            yield Splitter("chat-box", direction="rows", after=True, id="split-rows")
            with _box("chat"):
                yield self.titles["chat"]
                yield self.log_view
                yield self.prompt
        yield self.keybar

    def on_mount(self) -> None:
        """Be usable before there is a document."""
        self.find_bar.display = False
        self.outline.focus()
        self.show_facts(self.facts)
        self.show_intro()

    @property
    def own_app(self) -> RoamApp:
        """The application."""
        return cast("RoamApp", self.app)

    # -- the document and its session -------------------------------------------------------------

    def show_facts(self, facts: Facts) -> None:
        """Show what the first line says besides the state."""
        self.facts = facts
        self.header.show(self.asking.bridge.state, replace(facts, seconds=self.asking.seconds))

    def show_library(self, library: Library) -> None:
        """Show documents that were read."""
        first, others = library.documents[0], len(library.documents) - 1
        sample = first.source[:_SAMPLE]
        rate = estimate_tokens(sample.decode("utf-8", "replace")) / max(1, len(sample))
        self.reading.load(library)
        self.show_facts(
            replace(
                self.facts,
                document=first.name + (f" and {others} more" if others else ""),
                sections=sum(len(item.sections) for item in library.documents),
                tokens=round(sum(len(item.source) for item in library.documents) * rate),
                work="",
            )
        )
        for document in library.documents:
            for notice in document.origin.notices:
                safe.toast(self.own_app, notice, title=document.name, severity="warning")

    def attach(self, session: Session) -> None:
        """Ask this session, which is ready, from now on."""
        self.sections.show_outline(session.outline.text, session.outline.tokens)
        self.asking.attach(session)
        self.show_model(session)

    def show_model(self, session: Session) -> None:
        """Show who answers, and what could be asked."""
        self.show_facts(replace(self.facts, model=session.model.name, maker=session.model.maker))
        self.asking.offer_examples(session)

    def show_intro(self) -> None:
        """Show what stands above the first question."""
        self.log_view.show_intro(self.asking.intro())

    # -- the state --------------------------------------------------------------------------------

    def show_state(self, state: TraceState) -> None:
        """Show a session: the one way by which anything of it comes to the screen."""
        self.reading.show_state(state)
        self.log_view.show_state(state, self.asking.waiting)
        self.strip.show_state(state)
        self.asking.follow(state, self.reading)
        self.show_facts(self.facts)
        self.show_keys()

    def _title(self, ref: str) -> str:
        return self.reading.title(ref)

    def crashed(self, error: Exception) -> None:
        """Say that a run broke by a fault of the program; the screen goes on."""
        note = write_note(error)
        where = f" Report: {note}" if note is not None else ""
        message = f"{type(error).__name__}: {redact(str(error))[:200]}.{where}"
        safe.toast(self.own_app, message, title="The program failed while answering", severity="error", timeout=15)

    def say(self, message: str) -> None:
        """Show a short notice."""
        safe.toast(self.own_app, message, timeout=4)

    def show_trace(self, chosen: tuple[str, int] | None) -> None:
        """Look at the steps in full, beginning with `chosen` (run and step)."""
        from roamtui.tui.screens.inspector import Inspector

        self.app.push_screen(Inspector(self.asking.bridge.state, chosen))

    def fill_prompt(self, question: str) -> None:
        """Put a question into the input line, to be changed or sent."""
        self.arrangement.focus("prompt")
        self.prompt.fill(question)

    # -- keys ---------------------------------------------------------------------------------

    def action_command(self, command: str) -> None:
        """Run a command of the table."""
        self.verbs.run(command)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let a command's key act only where the table says."""
        if action != "command":
            return True
        return is_active(BY_ID[str(parameters[0])], self.arrangement.place)

    def show_keys(self) -> None:
        """Show the keys that act where the keyboard is."""
        place = self.arrangement.place
        self.keybar.show(tuple(self._hints(place)))
        for name, _ in PANES:
            self.titles[name].mark(self.arrangement.pane == name)

    def _hints(self, place: Where) -> Iterator[tuple[str, str, str]]:
        for command in sorted(COMMANDS, key=lambda item: item.id != "help"):  # the way to all other keys comes first
            wanted = self.asking.bridge.running if command.id == "stop" else True
            if command.label and wanted and is_active(command, place) and self.keymap.shown(command.id):
                yield command.id, self.keymap.shown(command.id), command.label

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Show the keys of the widget that has the keyboard now."""
        self.show_keys()

    def on_resize(self, event: events.Resize) -> None:
        """Take up the arrangement of the new width."""
        self.arrangement.resized(event.size.width)

    # -- messages of the widgets --------------------------------------------------------------

    @on(KeyBar.Clicked)
    def _key_clicked(self, event: KeyBar.Clicked) -> None:
        self.verbs.run(event.command)

    @on(PaneBar.Clicked)
    def _pane_clicked(self, event: PaneBar.Clicked) -> None:
        self.arrangement.focus("log" if event.pane == "chat" else event.pane)

    @on(HeaderLine.ModelClicked)
    def _model_clicked(self) -> None:
        self.verbs.run("model")

    @on(Prompt.Asked)
    def _asked(self, event: Prompt.Asked) -> None:
        if self.asking.ask(event.question):
            event.prompt.sent(event.question)
        else:
            event.prompt.give_back(event.question)

    @on(ChatLog.Activated)
    def _activated(self, event: ChatLog.Activated) -> None:
        self.asking.activate(event.action, self.reading)

    @on(TraceStrip.Chosen)
    def _step_chosen(self, event: TraceStrip.Chosen) -> None:
        if isinstance(event, TraceStrip.Opened):
            self.show_trace((event.run, event.step))
        else:
            self.asking.show_step(event.run, event.step)

    @on(OutlinePane.Selected)
    def _selected(self, event: OutlinePane.Selected) -> None:
        self.reading.toggle(event.ref)

    @on(OutlinePane.Preview)
    def _previewed(self, event: OutlinePane.Preview) -> None:
        self.reading.preview(event.ref)

    @on(SectionsPane.CloseRequested)
    def _close_requested(self, event: SectionsPane.CloseRequested) -> None:
        self.reading.close(event.ref)

    @on(SectionsPane.LinkActivated)
    def _link_activated(self, event: SectionsPane.LinkActivated) -> None:
        self.own_app.offer_link(event.url)

    # -- find in document ---------------------------------------------------------------------

    @on(FindBar.FindChanged)
    def _find_changed(self, event: FindBar.FindChanged) -> None:
        bar = event.bar
        self.finding.changed(Wanted(bar.pattern, bar.mode, bar.case), self._start_find)

    @on(FindBar.FindNext)
    def _find_next(self) -> None:
        self.finding.move(1)

    @on(FindBar.Committed)
    def _find_committed(self) -> None:
        self.arrangement.focus("sections")

    @on(FindBar.FindPrevious)
    def _find_previous(self) -> None:
        self.finding.move(-1)

    @on(FindBar.Closed)
    def close_find(self) -> None:
        """Close the find bar and take its marks away."""
        had_focus = self.find_bar.has_focus_within
        self.find_bar.display = False
        self.finding.close()
        if had_focus:
            self.arrangement.focus("sections")

    def _start_find(self, search: Callable[[], Found]) -> None:
        self.run_worker(lambda: self._find(search), thread=True, exclusive=True, group="find", exit_on_error=False)

    def _find(self, search: Callable[[], Found]) -> None:
        found = search()
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self.finding.show, found)


def _box(name: Pane) -> Vertical:
    return Vertical(id=f"{name}-box", classes="box")


def _bindings(keymap: Keymap) -> Iterator[Binding]:
    for command in COMMANDS:
        keys = keymap.keys.get(command.id, ())
        if keys:
            # what leads to an input must act before the next key is looked at, or what is typed ahead is lost
            first = command.id in ("prompt", "find", "ask")
            yield Binding(
                ",".join(keys), f"command('{command.id}')", command.title, show=False, id=command.id, priority=first
            )
    yield Binding("ctrl+c,super+c", "screen.copy_text", "Copy selected text", show=False)
