"""Pictures of the real screen, for the README: `python -m tests.tools.shots docs`.

The program runs as it does for a user, without a model, on a sample; the clock in the header is all that differs
between two runs.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from roamtui.config import Settings
from roamtui.tui.app import RoamApp
from roamtui.tui.run import workshop
from tests.support.screen import Stage

SHOTS = {
    "screen.svg": ((140, 42), "sample:handbook", "What do volunteers get paid for travel?"),
    "screen-narrow.svg": ((80, 24), "sample:manual", "How do I copy an answer?"),
}
"""File name: size in cells, document, question."""


async def shoot(size: tuple[int, int], document: str, question: str) -> str:
    """Return the screen after a question, as SVG."""
    settings = Settings()
    app = RoamApp([document], settings, workshop=workshop(settings))
    async with app.run_test(size=size) as pilot:
        stage = Stage(app, pilot)
        await stage.ask(question)
        await pilot.pause()
        return app.export_screenshot(title="roamtui", simplify=True)


def main() -> None:
    """Write the pictures into the folder given."""
    folder = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as own:
        for kind in ("CONFIG", "CACHE", "STATE"):
            os.environ[f"ROAMTUI_{kind}_DIR"] = str(Path(own) / kind.lower())
        for name, (size, document, question) in SHOTS.items():
            picture = asyncio.run(shoot(size, document, question))
            (folder / name).write_text(picture, encoding="utf-8")
            print(folder / name)


if __name__ == "__main__":
    main()
