"""A loopback server that speaks OpenAI's chat completions.

As a command it lets one try roamtui by hand: `python -m tests.support.openai_server --port 8123 --script FILE`,
then `roamtui DOC --model any --base-url http://127.0.0.1:8123/v1`. The file is one of `roamtui.models.scripted`;
without it every request is answered with a sentence.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from roamtui.errors import ModelError
from roamtui.models.base import Assembler, Request
from roamtui.models.scripted import ScriptedModel
from tests.support.wire import Received, Reply, WireServer, arguments_text, pieces

Chunk = dict[str, Any]


class OpenAIServer(WireServer):
    """`POST /v1/chat/completions`, streamed or whole."""

    path = "/v1"

    def events(self, request: Any, reply: Reply) -> Iterator[bytes]:
        if not (request or {}).get("stream"):
            yield json.dumps(whole(reply)).encode()
            return
        yield from (self.frame(chunk) for chunk in deltas(reply))
        finish = ("tool_calls" if reply.tool_calls else "stop") if reply.finish is None else reply.finish
        if finish:
            yield self.frame(chunk_of({}, finish))
            if (request.get("stream_options") or {}).get("include_usage"):
                yield self.frame({**chunk_of({}), "choices": [], "usage": usage_of(reply)})
        yield b"data: [DONE]\n\n"


def chunk_of(delta: object, finish: str | None = None) -> Chunk:
    """Return one chunk of a stream."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "fake-1",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def deltas(reply: Reply) -> Iterator[Chunk]:
    """Yield the chunks of a reply as OpenAI cuts them: id and name first, then pieces of the arguments."""
    yield chunk_of({"role": "assistant", "content": ""})
    for piece in pieces(reply.reasoning):
        yield chunk_of({"reasoning_content": piece})
    for piece in pieces(reply.text):
        yield chunk_of({"content": piece})
    for index, (name, arguments) in enumerate(reply.tool_calls):
        head = {"name": name, "arguments": ""}
        yield chunk_of({"tool_calls": [{"index": index, "id": f"call_{index}", "type": "function", "function": head}]})
        for piece in pieces(arguments_text(arguments)):
            yield chunk_of({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})


def usage_of(reply: Reply) -> Chunk:
    """Return the reply's usage in OpenAI's shape."""
    usage = reply.usage
    read, wrote = usage.get("input", 0), usage.get("output", 0)
    return {
        "prompt_tokens": read,
        "completion_tokens": wrote,
        "total_tokens": read + wrote,
        "prompt_tokens_details": {"cached_tokens": usage.get("cache_read", 0)},
        "completion_tokens_details": {"reasoning_tokens": usage.get("reasoning", 0)},
    }


def whole(reply: Reply) -> Chunk:
    """Return the reply as one completion."""
    message: Chunk = {"role": "assistant", "content": reply.text}
    if reply.tool_calls:
        message["tool_calls"] = [
            {"id": f"call_{index}", "type": "function", "function": {"name": name, "arguments": arguments_text(given)}}
            for index, (name, given) in enumerate(reply.tool_calls)
        ]
    finish = "tool_calls" if reply.tool_calls else "stop"
    choice = {"index": 0, "message": message, "finish_reason": reply.finish or finish}
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "f",
        "choices": [choice],
        "usage": usage_of(reply),
    }


def _played(path: str) -> Any:
    """Return a script function that answers from a file of scripted turns."""
    model = ScriptedModel.from_file(Path(path))

    async def turn(received: Received) -> Reply:
        assembler = Assembler()
        request = Request(model="any", messages=received.json["messages"])
        stream: AsyncIterator[Any] = model.stream(request)
        async for delta in stream:
            assembler.feed(delta)
        done = assembler.turn()
        calls = [(call.name, call.arguments) for call in done.tool_calls]
        return Reply(text=done.text, reasoning=done.reasoning, tool_calls=calls)

    def script(received: Received, _: int) -> Reply:
        replies: list[Reply] = []

        def play() -> None:
            try:
                replies.append(asyncio.run(turn(received)))
            except ModelError as error:
                replies.append(Reply(status=400, error=error.message))

        worker = threading.Thread(target=play)
        worker.start()
        worker.join()
        return replies[0]

    return script


def _sentence(received: Received, number: int) -> Reply:
    found = re.search(r"\[([0-9a-f]{8})\]", str(received.json["messages"]))
    if received.json.get("tools") and number % 2 == 0 and found:
        return Reply(tool_calls=[("expand_section", {"section_ids": [found[1]], "reason": "It is the first one."})])
    return Reply(text="This is what the loopback server answers to everything.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8123)
    parser.add_argument("--script", default="")
    options = parser.parse_args()
    script = _played(options.script) if options.script else _sentence
    with OpenAIServer(script, port=options.port) as server:
        print(server.base_url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
