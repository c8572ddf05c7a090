"""Foreign text meets a widget only through `tui/safe.py`: the syntax trees of the screen, walked."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import roamtui.tui

SCREEN = Path(roamtui.tui.__file__).parent
MODULES = sorted(path for path in SCREEN.rglob("*.py") if path.name != "safe.py")

READS_MARKUP = frozenset(
    {"Static", "Label", "Button", "Option", "Checkbox", "RadioButton", "Collapsible", "Tab", "TabPane", "ListItem"}
    | {"Tooltip", "Markdown", "MarkdownViewer", "Rule", "Digits", "Selection", "Select", "Tree", "DataTable", "Pretty"}
)
"""Widgets and parts that take a string for markup (or for Markdown with live links)."""
NEVER = frozenset({"notify", "from_markup", "render_markup", "from_ansi", "open_url", "escape_markup"})
"""What only safe.py may call, and what nobody may."""
TITLES = frozenset({"border_title", "border_subtitle", "tooltip", "sub_title"})


def _makers_of_content() -> Iterator[str]:
    """Yield the names of functions and methods of the screen that are annotated to return Content or Text."""
    for path in SCREEN.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and getattr(node.returns, "id", "") in ("Content", "Text"):
                yield node.name


INERT = frozenset({"Content", "Text", *_makers_of_content()})


def called(node: ast.Call) -> str:
    """Return the last part of the name of what is called."""
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def is_inert(node: ast.expr) -> bool:
    """Tell whether an expression is a literal without markup, or passed a door."""
    if isinstance(node, ast.Constant):
        return not (isinstance(node.value, str) and "[" in node.value)
    return isinstance(node, ast.Call) and called(node) in INERT


def has_markup_off(node: ast.Call) -> bool:
    return any(
        keyword.arg == "markup" and isinstance(keyword.value, ast.Constant) and keyword.value.value is False
        for keyword in node.keywords
    )


def faults(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and reason of everything that lets a string reach a widget as markup."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _call_faults(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                bad = isinstance(target, ast.Attribute) and target.attr in TITLES and node.value is not None
                if bad and node.value is not None and not _is_own_attribute(target) and not is_inert(node.value):
                    yield node.lineno, f"{ast.unparse(target)} takes {ast.unparse(node.value)}"


def _is_own_attribute(target: ast.expr) -> bool:
    """Tell whether an attribute is one of a plain class of ours: `self.title` outside widgets is checked by name."""
    return (
        isinstance(target, ast.Attribute) and target.attr in ("title", "label", "prompt") and target.attr != "tooltip"
    )


def _call_faults(node: ast.Call) -> Iterator[tuple[int, str]]:
    name = called(node)
    if name in NEVER:
        yield node.lineno, f"{name}() is safe.py's business"
    if name in READS_MARKUP and not has_markup_off(node):
        shown = [*node.args, *(item.value for item in node.keywords if item.arg in ("label", "title", "content"))]
        for argument in shown[:1]:
            if not isinstance(argument, ast.Starred) and not is_inert(argument):
                yield node.lineno, f"{name}({ast.unparse(argument)})"
    formats = (ast.JoinedStr, ast.BinOp)
    if name == "update" and node.args and isinstance(node.args[0], formats):
        yield node.lineno, f"update({ast.unparse(node.args[0])})"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SCREEN)))
def test_no_string_reaches_a_widget_as_markup(path: Path) -> None:
    assert list(faults(ast.parse(path.read_text()))) == []


@pytest.mark.parametrize(
    "source",
    [
        "Static(title)",
        "Label(f'{x}')",
        "Button(section.title, id='x')",
        "self.notify(str(error), markup=False)",
        "Static('[b]x[/b]')",
        "Content.from_markup(text)",
        "widget.border_title = name",
        "widget.tooltip = f'{name}'",
        "label.update(f'{count} hits in {name}')",
        "Option(heading)",
        "Markdown(answer)",
    ],
)
def test_the_walk_sees_what_is_forbidden(source: str) -> None:
    assert list(faults(ast.parse(source)))


@pytest.mark.parametrize(
    "source",
    [
        "Static('plain words')",
        "Static(safe.line(title))",
        "Static(words, markup=False)",
        "label.update(safe.plain(text))",
        "widget.border_title = safe.line(name)",
        "styles.update(found)",
    ],
)
def test_the_walk_lets_the_doors_pass(source: str) -> None:
    assert not list(faults(ast.parse(source)))


def test_only_the_app_opens_a_browser_and_nothing_runs_a_program() -> None:
    for path in MODULES:
        forbidden = {"subprocess", "pickle", "shelve", "pyperclip", "webbrowser"}
        if path == SCREEN / "app.py":  # after safe.web_address() and a question
            forbidden.remove("webbrowser")
        for node in ast.walk(ast.parse(path.read_text())):
            names = [item.name for item in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert not {name.split(".")[0] for name in names} & forbidden, path
