"""The maker for --base-url: what it sends, to whom, and within which bounds."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from roamtui.errors import ConfigError
from roamtui.models.addresses import check_base_url, is_loopback
from roamtui.models.base import Request, ToolCall, Turn
from roamtui.models.openai_http import OpenAIHTTP
from tests.models.conftest import CANARY, HTTP, TOOL, ask, collect, fails
from tests.support.openai_server import OpenAIServer, chunk_of
from tests.support.wire import Gate, Reply


async def test_the_request_carries_what_was_asked_and_nothing_else() -> None:
    async with OpenAIServer([Reply(text="hi")]) as server:
        await collect(HTTP.model(server), ask(tools=True, temperature=0, seed=7))
        sent = server.requests[0]
    assert sent.path == "/v1/chat/completions"
    assert sent.json == {
        "model": "some-model",
        "messages": ask().messages,
        "tools": [TOOL],
        "temperature": 0,
        "seed": 7,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert sent.headers["authorization"] == f"Bearer {CANARY}"
    assert sent.headers["accept-encoding"] == "identity"
    assert CANARY not in sent.body.decode()


async def test_without_a_key_none_is_sent() -> None:
    async with OpenAIServer([Reply(text="hi")]) as server:
        model = OpenAIHTTP("openai/org/some-model", server.base_url + "/")
        await collect(model)
        await model.aclose()
        sent = server.requests[0]
    assert "authorization" not in sent.headers
    assert sent.json["model"] == "org/some-model"  # litellm's way to say "an OpenAI-compatible server"


async def test_what_a_model_wrote_badly_goes_back_in_a_form_servers_take() -> None:
    """Several servers answer 500 to arguments that do not parse and to empty names."""
    calls = (ToolCall("c1", "", "{broken"), ToolCall("c2", "a b", "[1]"))
    messages = [*ask().messages, Turn(tool_calls=calls).message()]
    async with OpenAIServer([Reply(text="hi")]) as server:
        await collect(HTTP.model(server), Request(model="m", messages=messages))
        sent = server.requests[0].json["messages"][-1]["tool_calls"]
    assert [call["function"]["name"] for call in sent] == ["unnamed", "a_b"]
    assert all(isinstance(json.loads(call["function"]["arguments"]), dict) for call in sent)


async def test_provider_details_go_back_verbatim() -> None:
    details = [{"type": "reasoning.encrypted", "data": "abc"}]
    call = {"index": 0, "id": "c1", "function": {"name": "expand_section", "arguments": "{}"}}
    signed = {**call, "extra_content": {"google": {"thought_signature": "sig"}}}
    chunks = [chunk_of({"reasoning_details": details}), chunk_of({"tool_calls": [signed]}), chunk_of({}, "tool_calls")]
    async with OpenAIServer([Reply(chunks=chunks), Reply(text="ok")]) as server:
        model = HTTP.model(server)
        turn, _, _ = await collect(model)
        await collect(model, ask(turn.message(), {"role": "tool", "tool_call_id": "c1", "content": "x"}))
        sent = server.requests[1].json["messages"][2]
    assert sent["reasoning_details"] == details
    assert sent["tool_calls"][0]["extra_content"] == {"google": {"thought_signature": "sig"}}
    assert "provider_fields" not in sent


async def test_an_answer_is_complete_though_the_server_never_hangs_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamtui.models.openai_http.AFTER_FINISH_S", 0.05)
    chunks = [chunk_of({"content": "all"}), chunk_of({}, "stop"), b": wait\n\n"]
    async with OpenAIServer([Reply(chunks=chunks, cut_after=2, cut="hang")]) as server:
        turn, _, error = await collect(HTTP.model(server))
    assert error is None
    assert turn.text == "all"


async def test_huge_headers_are_an_error() -> None:
    """F-P17."""
    async with OpenAIServer([Reply(text="x", headers={"x-long": "a" * 300_000})]) as server:
        error = await fails(HTTP.model(server))
    assert error.kind == "bad_reply"


@pytest.mark.parametrize("encoding", ["gzip, gzip", "br", "x-unknown"])
async def test_stacked_and_unknown_encodings_are_refused(encoding: str) -> None:
    """F-P16."""
    async with OpenAIServer([Reply(body=b"x" * 100, headers={"content-encoding": encoding})]) as server:
        error = await fails(HTTP.model(server))
    assert error.kind == "bad_reply"


async def test_a_packed_reply_of_ordinary_size_is_read() -> None:
    """Some gateways pack whatever was asked for."""
    body = gzip.compress(b"".join(OpenAIServer([]).events({"stream": True}, Reply(text="unpacked"))))
    async with OpenAIServer([Reply(body=body, headers={"content-encoding": "gzip"})]) as server:
        turn, _, error = await collect(HTTP.model(server))
    assert error is None
    assert turn.text == "unpacked"


async def test_proxies_are_not_asked_about_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """F-P24."""
    async with OpenAIServer([Reply(status=500)]) as proxy, OpenAIServer([Reply(text="direct")]) as server:
        monkeypatch.setenv("HTTP_PROXY", proxy.base_url)
        monkeypatch.setenv("ALL_PROXY", proxy.base_url)
        turn, _, error = await collect(HTTP.model(server))
    assert error is None
    assert turn.text == "direct"
    assert proxy.requests == []


async def test_connections_are_used_again() -> None:
    async with OpenAIServer([Reply(text="one"), Reply(text="two")]) as server:
        model = HTTP.model(server)
        for text in ("one", "two"):
            turn, _, error = await collect(model)
            assert (turn.text, error) == (text, None)


async def test_two_calls_at_once_do_not_mix() -> None:
    gate = Gate()
    async with OpenAIServer(lambda request, _: Reply(text=request.json["messages"][1]["content"], gate=gate)) as server:
        model = HTTP.model(server)

        def about(text: str) -> Request:
            return Request(model="m", messages=[{"role": "system", "content": ""}, {"role": "user", "content": text}])

        both = asyncio.gather(collect(model, about("first")), collect(model, about("second")))
        await server.wait_until(lambda: len(server.requests) == 2)
        gate.open()
        turns = await both
    assert [turn.text for turn, _, _ in turns] == ["first", "second"]


@pytest.mark.parametrize(
    "address",
    [
        "localhost:11434",
        "ftp://host/v1",
        "file:///etc/passwd",
        "http://",
        "http://user:pass@host/v1",
        "http://host/v1?key=abc",
        "http://host/v1#x",
        "http://host:99999/v1",
        "http://hö st/v1",
        "",
    ],
)
def test_addresses_that_make_no_sense(address: str) -> None:
    """F-S04; a password in the address would end up in logs."""
    with pytest.raises(ConfigError) as caught:
        check_base_url(address)
    assert "pass@" not in caught.value.message


@pytest.mark.parametrize(
    ("address", "clean"),
    [
        ("http://localhost:11434/v1/", "http://localhost:11434/v1"),
        (" HTTPS://Example.COM/v1/chat/completions ", "https://example.com/v1"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
        ("http://host", "http://host"),
    ],
)
def test_addresses_are_brought_into_one_form(address: str, clean: str) -> None:
    assert check_base_url(address) == clean


@pytest.mark.parametrize(
    ("address", "here"),
    [
        ("http://localhost/v1", True),
        ("http://127.8.0.1/v1", True),
        ("http://[::1]/v1", True),
        ("http://localhost.evil.example/v1", False),
        ("http://127.0.0.1.evil.example/v1", False),
        ("http://192.168.1.5/v1", False),
    ],
)
def test_what_counts_as_this_machine(address: str, here: bool) -> None:
    assert is_loopback(address) is here


@pytest.fixture
def untrusted_server(tmp_path: Path) -> Iterator[str]:
    """Serve TLS with a certificate nobody signed; yields the address."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "1"]
    try:
        made = subprocess.run([*command, "-keyout", key, "-out", certificate], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("openssl is not installed: no certificate to refuse")
    assert made.returncode == 0
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            try:
                client, _ = listener.accept()
                with client, context.wrap_socket(client, server_side=True):
                    pass
            except OSError:
                pass

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"https://127.0.0.1:{listener.getsockname()[1]}/v1"
        thread.join(5)


async def test_a_certificate_nobody_signed_is_refused(untrusted_server: str) -> None:
    """F-P07."""
    model = OpenAIHTTP("m", untrusted_server)
    error = await fails(model)
    await model.aclose()
    assert error.kind == "unavailable"
    assert "certificate" in error.message
