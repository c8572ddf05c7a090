"""The budget of a request: what the window holds, what is kept for the answer, what is free."""

from __future__ import annotations

from dataclasses import dataclass

from roamtui.errors import BudgetError

RESERVE_SHARE = 0.25
"""Share of the window kept for the answer (at least `RESERVE_LEAST`)."""
RESERVE_LEAST = 256
MARGIN_SHARE = 0.05
"""Share of the window kept free because counting is approximate."""
MARGIN_LEAST = 128


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens of one request, part by part."""

    window: int
    """The model's context window."""
    outline: int
    """System message and outline."""
    tools: int
    """Tool definitions."""
    sections: int
    """Results of tools."""
    history: int
    """Questions, answers, calls."""

    @property
    def reserve(self) -> int:
        """Tokens kept for the answer; at most half of the window."""
        return min(self.window // 2, max(RESERVE_LEAST, int(self.window * RESERVE_SHARE)))

    @property
    def margin(self) -> int:
        """Tokens kept free because counting is approximate."""
        return min(self.window // 8, max(MARGIN_LEAST, int(self.window * MARGIN_SHARE)))

    @property
    def prompt(self) -> int:
        """Tokens of the whole prompt."""
        return self.outline + self.tools + self.sections + self.history

    @property
    def free(self) -> int:
        """Tokens that may still be added; negative when the prompt is too long."""
        return self.window - self.reserve - self.margin - self.prompt

    def require(self) -> None:
        """Raise `BudgetError` with the numbers when the prompt does not fit."""
        if self.free < 0:
            raise BudgetError(
                f"The prompt needs {self.prompt:,} tokens, the answer {self.reserve:,} and the margin {self.margin:,}, "
                f"but the model's window is {self.window:,}.",
                "Choose a model with a larger window, or a smaller --outline-tokens.",
            )


def outline_allowance(window: int, wanted: int) -> int:
    """Return how many tokens the outline may take: what is wanted, at most a third of the window, at least 200."""
    return max(200, min(wanted, window // 3))
