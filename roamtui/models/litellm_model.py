"""The maker for every provider litellm knows. The only importer of litellm, at the first send and on its own thread.

Importing litellm takes 2 to 3 s and a sixth of a GB; it also reads `.env` files, fetches price lists and prints, unless
told not to before it is imported. `_load` says all of that to it. Its cache, retries and time limits are not used
(they serve truncated streams as answers, retry unseen, and limit single reads only).
"""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import AsyncGenerator
from contextlib import aclosing
from importlib import import_module
from typing import Any

from roamtui.errors import ModelError
from roamtui.models.base import Delta, Finish, Message, ProviderFields, Request
from roamtui.models.chat_chunks import ChatChunks
from roamtui.models.litellm_chunks import Extras, chunk_data
from roamtui.models.litellm_errors import error_from_exception
from roamtui.models.loop_thread import LoopThread
from roamtui.models.outgoing import fields_for, outgoing, tagged_fields
from roamtui.models.secret import Secret
from roamtui.text import one_line

ENVIRONMENT = {
    "LITELLM_MODE": "PRODUCTION",  # else it loads .env files found upwards from its own folder and from ours
    "PYTHON_DOTENV_DISABLED": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else it asks raw.githubusercontent.com while it is imported
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_OFFLINE_MODE": "true",
    "DISABLE_AIOHTTP_TRANSPORT": "True",  # aiohttp takes a reset for an end, and complains on stderr at exit
    "LITELLM_LOG": "CRITICAL",
    "REPEATED_STREAMING_CHUNK_LIMIT": "1000000",  # else a long table rule is taken for a model gone mad
}
"""Set before litellm is imported, whatever was there: a hostile folder must not decide them."""

_CLAUDE = re.compile(r"(?:^|/)claude|^bedrock/.*anthropic\.claude")
"""Models whose provider keeps prompts only where they are marked. Others get no marks: some servers refuse them."""
_thread = LoopThread("litellm")


class LiteLLM:
    """A model by litellm's name."""

    maker = "litellm"
    version = "1"
    """Raised when the same reply would give other deltas; part of the cache key."""

    def __init__(
        self, name: str, *, api_key: Secret | None = None, base_url: str = "", problem: ModelError | None = None
    ) -> None:
        """Name a model; nothing is imported or sent yet.

        Without `api_key` litellm looks for the provider's variable itself. `base_url` replaces the provider's
        address. `problem` is raised instead of sending: what is known to be wrong with the key.
        """
        self.name = name
        self._api_key = api_key
        self._base_url = base_url
        self._problem = problem
        self._where = name.partition("/")[0] if "/" in name else name

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Answer one request. Raises `ModelError`; closing the iterator cancels the call, also while litellm loads."""
        if self._problem is not None:
            raise self._problem
        async with aclosing(_thread.stream(lambda: self._call(request), failed=self._error)) as deltas:
            async for delta in deltas:
                yield delta

    def _error(self, error: BaseException) -> ModelError:
        return error_from_exception(error, where=self._where)

    async def _call(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Do the call; runs on litellm's thread, and raises whatever litellm raises."""
        litellm = _load()
        chunks = ChatChunks(id_prefix=f"call_{len(request.messages)}_", where=self._where)
        extras = Extras()
        stream = await litellm.acompletion(**self._arguments(request))
        async with aclosing(stream):
            async for chunk in stream:
                for delta in chunks.feed(chunk_data(chunk, extras)):
                    yield delta
        # At a clean end of connection litellm makes up "stop"; what the provider really said is here.
        said = getattr(stream, "received_finish_reason", None)
        if said is None:
            chunks.finish_reason = ""
        for delta in chunks.close():
            if isinstance(delta, Finish) and (fields := extras.close()):
                yield ProviderFields(tagged_fields(self.maker, self.name, fields))
            yield delta

    def _arguments(self, request: Request) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            **request.params,
            "model": self.name,
            "messages": self._messages(request),
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_retries": 0,
            "num_retries": 0,
            "timeout": 600,
            "caching": False,
            "_skip_mcp_handler": True,  # 1.106 looks for a package we do not have as soon as there are tools
        }
        if request.tools:
            arguments["tools"] = list(request.tools)
        if self._api_key is not None:
            arguments["api_key"] = self._api_key.reveal()
        if self._base_url:
            arguments["api_base"] = self._base_url
        return arguments

    def _messages(self, request: Request) -> list[Message]:
        messages = outgoing(request.messages)
        for message, original in zip(messages, request.messages, strict=True):
            fields = fields_for(original, self.maker, self.name)
            per_call = fields.pop("calls", {})
            message |= fields
            for call in message.get("tool_calls", ()):
                if call["id"] in per_call:
                    call["provider_specific_fields"] = per_call[call["id"]]
        if _CLAUDE.search(self.name):
            for message in {id(item): item for item in (messages[0], messages[-1])}.values():
                _mark_for_cache(message)
        return messages

    async def aclose(self) -> None:
        """Do nothing: connections belong to litellm's thread and live as long as the program."""


def _mark_for_cache(message: Message) -> None:
    """Ask Anthropic to keep the prompt up to here: it does so only where told, and charges a tenth for what it kept."""
    if isinstance(message["content"], str) and message["content"]:
        block = {"type": "text", "text": message["content"], "cache_control": {"type": "ephemeral"}}
        message["content"] = [block]


def _load() -> Any:
    """Import litellm, quiet and offline. Raises `ModelError` (`unavailable`). Runs on its thread only."""
    os.environ.update(ENVIRONMENT)
    try:
        litellm: Any = import_module("litellm")
    except ImportError as error:
        reason = one_line(str(error)) or "its package is broken"
        raise ModelError("unavailable", f"litellm cannot be loaded: {reason}.", "pip install litellm") from None
    if litellm.aclient_session is None:
        litellm.suppress_debug_info = True  # banners on stdout
        litellm.disable_hf_tokenizer_download = True  # else names like *llama-3* freeze its loop for half a minute
        litellm.drop_params = True  # else a temperature is an error for models that have none
        litellm.modify_params = True  # else Anthropic refuses a conversation with tool calls once no tools are offered
        litellm.telemetry = False
        _silence()
        _guard_clients(litellm)
    return litellm


def _silence() -> None:
    """Keep litellm and its packages off stderr, where the screen is drawn."""
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = False
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "openai", "httpx", "httpcore", "asyncio"):
        logging.getLogger(name).addHandler(logging.NullHandler())  # else warnings go to stderr as a last resort
    warnings.filterwarnings("ignore", module=r"(litellm|pydantic|openai)(\.|$)")
    # A call that is cancelled while litellm prepares it on a thread of its own leaves its coroutine behind.
    warnings.filterwarnings("ignore", message=r"coroutine '\w*(Completion|Handler|LLM)\w*\.\w+' was never awaited")


def _guard_clients(litellm: Any) -> None:
    """Put our rules on every httpx client litellm uses: the one for OpenAI-like servers, and those it makes itself."""
    import httpx

    from roamtui.models.wire_guard import guard

    handlers: Any = import_module("litellm.llms.custom_httpx.http_handler")
    make, begin = handlers.AsyncHTTPHandler.create_client, handlers.HTTPHandler.__init__
    make_blocking = getattr(handlers.HTTPHandler, "create_client", None)  # 1.91 makes its client in the constructor

    def create(handler: Any, *arguments: Any, **named: Any) -> Any:
        return guard(make(handler, *arguments, **named))

    def create_blocking(handler: Any, *arguments: Any, **named: Any) -> Any:
        assert make_blocking is not None
        client = make_blocking(handler, *arguments, **named)
        client.follow_redirects = False
        return client

    def begin_blocking(handler: Any, *arguments: Any, **named: Any) -> None:
        begin(handler, *arguments, **named)
        handler.client.follow_redirects = False

    handlers.AsyncHTTPHandler.create_client = create
    if make_blocking is not None:
        handlers.HTTPHandler.create_client = create_blocking
    else:
        handlers.HTTPHandler.__init__ = begin_blocking
    litellm.aclient_session = guard(httpx.AsyncClient(timeout=httpx.Timeout(None)))
