"""How the conversation looks: the names of its styles, and what the style sheet says of them."""

from __future__ import annotations

from roamtui.tui.styles import mark_css

STYLES = (
    *("text", "you", "question", "label", "title", "muted", "tool", "reason", "warning", "error", "failure", "absent"),
    *("button", "cite", "cite-broken", "cite-mark", "cite-broken-mark", "cite-pending", "link", "cursor"),
)
"""Styles of questions, steps and citations; those of the marks come besides."""
MARKDOWN = (
    *("h1", "h2", "h3", "h4", "h5", "h6", "strong", "em", "s", "code", "info", "quote", "bullet", "rule"),
    *("address", "image", "html", "definition"),
)
"""Styles of Markdown in answers, as `rendering` names them; its links are drawn as text: they lead nowhere."""
CHAT_CSS = (
    """
ChatLog {
    overflow-x: hidden;
    overflow-y: scroll;
    scrollbar-size-vertical: 1;
    & > .chat--text { text-style: none; }
    & > .chat--you { color: $accent; text-style: bold; }
    & > .chat--question { text-style: bold; }
    & > .chat--label { color: $primary; text-style: bold; }
    & > .chat--title { color: $foreground; text-style: bold; }
    & > .chat--muted { color: $text-muted; }
    & > .chat--tool { color: $secondary; }
    & > .chat--reason { color: $text-muted; text-style: italic; }
    & > .chat--warning { color: $text-warning; text-style: bold; }
    & > .chat--error { color: $text-error; text-style: bold; }
    & > .chat--failure { background: $error; color: $background; text-style: bold; }
    & > .chat--absent { color: $text-warning; text-style: bold reverse; }
    & > .chat--button { color: $primary; text-style: bold underline; }
    & > .chat--cite { color: $mark-helpful; text-style: bold; }
    & > .chat--cite-broken { color: $text-error; text-style: bold; }
    & > .chat--cite-mark { color: $mark-helpful; text-style: bold; }
    & > .chat--cite-broken-mark { color: $text-error; text-style: bold reverse; }
    & > .chat--cite-pending { color: $text-muted; }
    & > .chat--link { color: $primary; text-style: underline; }
    & > .chat--cursor { background: $block-cursor-background; color: $block-cursor-foreground; text-style: bold; }
    & > .chat--h1 { color: $primary; text-style: bold underline; }
    & > .chat--h2, & > .chat--h3 { color: $primary; text-style: bold; }
    & > .chat--h4, & > .chat--h5, & > .chat--h6 { text-style: bold; }
    & > .chat--strong { text-style: bold; }
    & > .chat--em { text-style: italic; }
    & > .chat--s { text-style: strike; }
    & > .chat--code { color: $accent; }
    & > .chat--quote, & > .chat--bullet { color: $primary; }
    & > .chat--rule, & > .chat--info, & > .chat--address, & > .chat--image { color: $text-muted; }
    & > .chat--html, & > .chat--definition { color: $text-muted; }
    """
    + mark_css("chat")
    + "}"
)
"""The style sheet of `ChatLog`."""
