"""What each command of the table does on the main screen."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from roamtui.tui.reading import Reading, Spot
from roamtui.tui.widgets.field import Field

if TYPE_CHECKING:
    from roamtui.tui.screens.main import MainScreen
    from roamtui.tui.screens.picker import Picker


class Verbs:
    """Runs commands by their ids; holds one method for each."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self._verbs: dict[str, Callable[[], None]] = {
            "toggle": self.toggle,
            "preview": self.preview,
            "open": lambda: self._with_section(self._reading.open),
            "close": lambda: self._with_section(self._reading.close),
            "pin": lambda: self._with_section(self._reading.pin),
            "ask": lambda: self._with_section(self.ask_about),
            "find": self.find,
            "find-next": lambda: screen.finding.move(1),
            "find-previous": lambda: screen.finding.move(-1),
            "goto": self.goto,
            "back": lambda: self._reading.step(-1),
            "forward": lambda: self._reading.step(1),
            "copy": lambda: self._with_section(lambda ref: self._reading.copy(ref, whole=False)),
            "copy-all": lambda: self._with_section(lambda ref: self._reading.copy(ref, whole=True)),
            "prompt": lambda: screen.arrangement.focus("prompt"),
            "examples": self.examples,
            "history": self.history,
            "retry": screen.asking.retry,
            "copy-answer": self.copy_answer,
            "model": self.model,
            "stop": self.stop,
            "trace": lambda: screen.show_trace(screen.strip.chosen),
            "step-back": lambda: screen.strip.move(-1),
            "step-on": lambda: screen.strip.move(1),
            "next-pane": lambda: screen.arrangement.next_stop(1),
            "previous-pane": lambda: screen.arrangement.next_stop(-1),
            "zoom": self.zoom,
            "theme": self.theme,
            "open-document": self.open_document,
            "palette": self.palette,
            "help": self.help,
            "quit": lambda: screen.own_app.exit(return_code=0),
        }

    @property
    def _reading(self) -> Reading:
        return self._screen.reading

    def run(self, command: str) -> None:
        """Do what a command says."""
        self._verbs[command]()

    def known(self) -> frozenset[str]:
        """Return the ids of all commands that can be run."""
        return frozenset(self._verbs)

    # -- reading ------------------------------------------------------------------------------

    def _with_section(self, do: Callable[[str], None]) -> None:
        ref = self._reading.current
        if ref is None:
            self._screen.say("No section is under the cursor.")
        else:
            do(ref)

    def toggle(self) -> None:
        """Open or close the branch or section under the cursor."""
        if self._screen.arrangement.pane == "outline":
            self._screen.outline.action_choose()
        else:
            self._with_section(self._reading.toggle)

    def preview(self) -> None:
        """Show the section under the cursor."""
        self._screen.outline.action_preview()

    def find(self) -> None:
        """Show the find bar."""
        self._screen.arrangement.reveal("sections")
        self._screen.find_bar.display = True
        self._screen.find_bar.start()
        self._screen.set_focus(self._screen.find_bar.query_one(Field))  # at once: the next key may be there already

    def goto(self) -> None:
        """Ask for a section and go there."""
        library = self._reading.library
        if library is None:
            return
        from roamtui.tui.screens.goto import goto_dialog

        def go(chosen: str | None) -> None:
            if chosen is not None:
                ref, _, line = chosen.partition("@")
                self._reading.visit(Spot(ref, int(line)) if line else Spot(ref))

        self._screen.app.push_screen(goto_dialog(library), go)

    def copy_answer(self) -> None:
        """Copy the last answer."""
        text = self._screen.asking.answer_text(self._reading)
        if text:
            self._reading.copy_text(text, "The answer")
        else:
            self._screen.say("There is no answer yet.")

    # -- asking -------------------------------------------------------------------------------

    def ask_about(self, ref: str) -> None:
        """Begin a question about a section."""
        self._screen.fill_prompt(f"About “{self._reading.title(ref)}”: ")

    def examples(self) -> None:
        """Offer example questions."""
        from roamtui.tui.screens.dialogs import question_dialog

        self._pick_question(question_dialog("Example questions", self._screen.asking.examples))

    def history(self) -> None:
        """Offer the questions asked before."""
        from roamtui.tui.screens.dialogs import question_dialog

        earlier = list(dict.fromkeys(reversed(self._screen.history.questions)))
        self._pick_question(question_dialog("Earlier questions", earlier))

    def _pick_question(self, dialog: Picker) -> None:
        def fill(question: str | None) -> None:
            if question is not None:
                self._screen.fill_prompt(question)

        self._screen.app.push_screen(dialog, fill)

    def model(self) -> None:
        """Offer models; the next question goes to the one chosen."""
        from roamtui.tui.screens.dialogs import model_dialog

        def use(name: str | None) -> None:
            if name is not None:
                self._screen.own_app.use_model(name)

        self._screen.app.push_screen(model_dialog(os.environ, self._screen.facts.model), use)

    def stop(self) -> None:
        """Close the find bar, else stop the agent, else leave the input."""
        screen = self._screen
        if screen.find_bar.display:
            screen.close_find()
        elif screen.asking.bridge.stop():
            screen.say("Stopping.")
        elif screen.arrangement.place == "typing":
            screen.arrangement.focus("log" if screen.arrangement.single is not None else "outline")

    # -- the screen ---------------------------------------------------------------------------

    def zoom(self) -> None:
        """Zoom the pane, or show all again."""
        if not self._screen.arrangement.zoom():
            self._screen.say("There is room for one pane only; tab goes to the next.")

    def theme(self) -> None:
        """Change the colours."""
        self._screen.own_app.next_theme()

    def open_document(self) -> None:
        """Ask for a path and open it."""
        from roamtui.tui.screens.dialogs import document_dialog

        def open_path(path: str | None) -> None:
            if path is not None:
                self._screen.own_app.open_document(path)

        self._screen.app.push_screen(document_dialog(), open_path)

    def palette(self) -> None:
        """Offer all commands that can be run now."""
        from roamtui.tui.palette import palette_dialog

        def run(command: str | None) -> None:
            if command is not None:
                self.run(command)

        self._screen.app.push_screen(palette_dialog(self._screen.keymap), run)

    def help(self) -> None:
        """Show all keys."""
        from roamtui.tui.screens.help import Help

        self._screen.app.push_screen(Help(self._screen.keymap))
