"""The tools for models: bound to one user, calm when the gateway is not, in both SDKs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, cast

import httpx
import pytest
from anthropic import Anthropic, AsyncAnthropic
from anthropic.lib.tools import ToolError
from openai import AsyncOpenAI

from deploy.clients.account import Account
from deploy.clients.answers import ToolFailed
from deploy.clients.memory_tool import AsyncMemoryTool, MemoryTool
from deploy.clients.recall_tool import (
    NAME,
    AsyncRecallTool,
    RecallTool,
    anthropic_definition,
    openai_definition,
)
from tests.support.model_fake import Reply, model_fake, model_fake_in_thread
from tests.support.tool_calls import function_call, tool_results, tool_use

ACCOUNT = Account(base_url="http://gateway/", api_key="the-key", user_id="ann")
NOTES = "<memledger-notes>\n- 2026-03-01 Likes tea\n</memledger-notes>"


class Gateway:
    """Answers what it is told, and keeps what it was asked."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, dict[str, Any]]] = []
        transport = httpx.MockTransport(self._answer)
        self.client = httpx.Client(transport=transport)
        self.async_client = httpx.AsyncClient(transport=transport)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        assert request.headers["authorization"] == "Bearer the-key"
        self.asked.append((str(request.url), json.loads(request.content)))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        # A fresh one each time: a response belongs to the client that was given it.
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)


def _result(content: str, *, is_error: bool = False) -> httpx.Response:
    return httpx.Response(200, json={"content": content, "is_error": is_error})


def _problem(status: int, detail: str, **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"detail": detail}, headers=headers)


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Keep the pauses instead of waiting for them."""
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr("deploy.clients.asking.sleep", pauses.append)
    monkeypatch.setattr("deploy.clients.asking.sleep_in_loop", pause)
    return pauses


def _sync(gateway: Gateway, told: dict[str, Any]) -> str:
    return cast("str", MemoryTool(ACCOUNT, client=gateway.client).call(told))


def _async(gateway: Gateway, told: dict[str, Any]) -> str:
    tool = AsyncMemoryTool(ACCOUNT, client=gateway.async_client)
    return cast("str", asyncio.run(tool.call(told)))


Call = Callable[[Gateway, dict[str, Any]], str]
both = pytest.mark.parametrize("call", [_sync, _async], ids=["sync", "async"])

_COMMANDS: list[dict[str, Any]] = [
    {"command": "view", "path": "/memories", "view_range": [1, 2]},
    {"command": "create", "path": "/memories/a", "file_text": "x"},
    {"command": "str_replace", "path": "/memories/a", "old_str": "x"},
    {"command": "insert", "path": "/memories/a", "insert_line": 0, "insert_text": "x"},
    {"command": "delete", "path": "/memories/a"},
    {"command": "rename", "old_path": "/memories/a", "new_path": "/memories/b"},
]


@both
@pytest.mark.parametrize("told", _COMMANDS, ids=lambda told: told["command"])
def test_each_command_is_sent_as_the_model_told_it_for_the_bound_user(
    call: Call, told: dict[str, Any]
) -> None:
    gateway = Gateway(_result("done"))

    assert call(gateway, told) == "done"
    ((url, body),) = gateway.asked
    assert url == "http://gateway/v1/memory-tool"
    assert body.pop("command_id")
    assert body == {**told, "user_id": "ann"}


@both
def test_a_model_that_names_a_user_changes_nothing_of_whose_files_they_are(call: Call) -> None:
    gateway = Gateway(_result("done"))

    call(gateway, {**_COMMANDS[4], "user_id": "ben", "command_id": "x"})

    assert gateway.asked[0][1]["user_id"] == "ann"
    assert gateway.asked[0][1]["command_id"] != "x"


@both
def test_an_error_result_is_an_error_of_the_tool_with_its_text(call: Call) -> None:
    gateway = Gateway(_result("Error: The path /memories/a does not exist", is_error=True))

    with pytest.raises(ToolError, match=r"^Error: The path /memories/a does not exist$"):
        call(gateway, _COMMANDS[4])


@both
@pytest.mark.parametrize("told", [{}, {"command": "move", "path": "/memories"}], ids=range(2))
def test_a_call_that_is_malformed_goes_back_to_the_model(call: Call, told: dict[str, Any]) -> None:
    gateway = Gateway(_problem(422, "command: is none of the six commands"))

    with pytest.raises(ToolError, match="malformed: command: is none of the six"):
        call(gateway, told)
    assert len(gateway.asked) == 1


@both
def test_what_may_help_is_sent_again_under_the_same_id(call: Call, no_pauses: list[float]) -> None:
    gateway = Gateway(
        _problem(504, "not carried out yet", **{"retry-after": "1"}),
        httpx.ConnectError("refused"),
        _result("done"),
    )

    assert call(gateway, _COMMANDS[1]) == "done"
    assert len({body["command_id"] for _, body in gateway.asked}) == 1
    assert no_pauses == [1.0, 0.5]


@both
@pytest.mark.parametrize(
    "answer",
    [
        _problem(503, "the log"),
        _problem(401, "the API key is unknown"),
        httpx.ConnectError("to gateway.internal"),
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json=[]),
        _problem(429, "busy", **{"retry-after": "3600"}),
    ],
    ids=range(6),
)
def test_a_gateway_that_is_away_is_told_to_the_log_and_not_to_the_model(
    call: Call,
    answer: httpx.Response | Exception,
    caplog: pytest.LogCaptureFixture,
    no_pauses: list[float],
) -> None:
    gateway = Gateway(answer)

    with pytest.raises(ToolError) as failed:
        call(gateway, _COMMANDS[0])
    assert str(failed.value) == ("Error: The memory cannot be used right now: go on without it.")
    assert "memledger did not answer a tool" in caplog.text
    assert "the-key" not in caplog.text
    assert len(gateway.asked) <= 3
    assert max(no_pauses, default=0) <= 2


def test_all_memory_at_once_is_cleared_by_no_tool() -> None:
    with pytest.raises(ToolError, match="delete files by name"):
        MemoryTool(ACCOUNT).clear_all_memory()
    with pytest.raises(ToolError, match="delete files by name"):
        asyncio.run(AsyncMemoryTool(ACCOUNT).clear_all_memory())
    assert "the-key" not in repr(ACCOUNT)


def test_the_synchronous_tool_runner_carries_out_what_the_model_asks_for() -> None:
    gateway = Gateway(_result("Successfully deleted /memories/a"), _result("No", is_error=True))
    with model_fake_in_thread() as fake:
        fake.replies = [
            tool_use("memory", _COMMANDS[4]),
            tool_use("memory", _COMMANDS[4], call_id="toolu_2"),
            Reply(text="Done."),
        ]
        with Anthropic(api_key="k", base_url=fake.origin, max_retries=0) as model:
            runner = model.beta.messages.tool_runner(
                model="model-1",
                max_tokens=64,
                messages=[{"role": "user", "content": "Forget a"}],
                tools=[MemoryTool(ACCOUNT, client=gateway.client)],
                thread=False,
            )
            message = runner.until_done()

    assert fake.problems == []
    assert getattr(message.content[0], "text", None) == "Done."
    assert fake.asked[0].body["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    assert tool_results(fake.asked[1].body) == [("Successfully deleted /memories/a", False)]
    assert tool_results(fake.asked[2].body) == [("No", True)]


def test_recall_is_a_tool_for_anthropic() -> None:
    gateway = Gateway(httpx.Response(200, json={"injection": NOTES}))

    async def scenario() -> None:
        async with (
            model_fake() as fake,
            AsyncAnthropic(api_key="k", base_url=fake.origin, max_retries=0) as model,
        ):
            fake.replies = [tool_use(NAME, {"query": "drinks"}), Reply(text="Tea.")]
            messages: list[Any] = [{"role": "user", "content": "What shall I drink?"}]
            tools = cast("Any", [anthropic_definition()])
            told = await model.messages.create(
                model="model-1", max_tokens=64, messages=messages, tools=tools
            )
            (call,) = told.content
            assert call.type == "tool_use"
            result = await AsyncRecallTool(ACCOUNT, client=gateway.async_client).answer(call.input)
            messages += [
                {
                    "role": "assistant",
                    "content": [call.model_dump(include={"type", "id", "name", "input"})],
                },
                {
                    "role": "user",
                    "content": [{"type": "tool_result", "tool_use_id": call.id, "content": result}],
                },
            ]
            done = await model.messages.create(
                model="model-1", max_tokens=64, messages=messages, tools=tools
            )
            assert done.stop_reason == "end_turn"
            assert fake.problems == []
            assert tool_results(fake.asked[1].body) == [(NOTES, False)]
            assert fake.asked[0].body["tools"] == [anthropic_definition()]

    asyncio.run(scenario())
    assert gateway.asked == [("http://gateway/v1/recall", {"user_id": "ann", "query": "drinks"})]


def test_recall_is_a_tool_for_openai() -> None:
    gateway = Gateway(httpx.Response(200, json={"injection": NOTES}))

    async def scenario() -> None:
        async with (
            model_fake() as fake,
            AsyncOpenAI(api_key="k", base_url=f"{fake.origin}/v1", max_retries=0) as model,
        ):
            fake.replies = [function_call(NAME, '{"query": "drinks"}'), Reply(text="Tea.")]
            messages: list[Any] = [{"role": "user", "content": "What shall I drink?"}]
            tools = cast("Any", [openai_definition()])
            told = await model.chat.completions.create(
                model="model-1", messages=messages, tools=tools
            )
            (call,) = told.choices[0].message.tool_calls or []
            assert call.type == "function"
            result = await AsyncRecallTool(ACCOUNT, client=gateway.async_client).answer(
                call.function.arguments
            )
            messages += [
                {"role": "assistant", "content": None, "tool_calls": [call.model_dump()]},
                {"role": "tool", "tool_call_id": call.id, "content": result},
            ]
            await model.chat.completions.create(model="model-1", messages=messages, tools=tools)
            assert fake.problems == []
            assert fake.asked[1].body["messages"][-1]["content"] == NOTES
            assert fake.asked[0].body["tools"] == [openai_definition()]

    asyncio.run(scenario())
    assert gateway.asked == [("http://gateway/v1/recall", {"user_id": "ann", "query": "drinks"})]


@pytest.mark.parametrize(
    "schema",
    [anthropic_definition()["input_schema"], openai_definition()["function"]["parameters"]],
    ids=["anthropic", "openai"],
)
def test_the_schema_of_recall_is_strict(schema: dict[str, Any]) -> None:
    assert schema["additionalProperties"] is False
    assert schema["required"] == list(schema["properties"]) == ["query"]
    assert anthropic_definition()["strict"] is True
    assert openai_definition()["function"]["strict"] is True


@pytest.mark.parametrize(
    "arguments", ["", "{", "[]", '{"query": 1}', {}, {"query": None}, None, 7], ids=str
)
def test_a_call_of_recall_without_a_query_goes_back_to_the_model(arguments: object) -> None:
    gateway = Gateway(httpx.Response(200, json={"injection": NOTES}))

    with pytest.raises(ToolFailed, match="malformed"):
        RecallTool(ACCOUNT, client=gateway.client).answer(arguments)
    assert gateway.asked == []


def test_nothing_to_recall_is_said_in_words_and_no_user_can_be_named() -> None:
    gateway = Gateway(httpx.Response(200, json={"injection": "", "reason": "none_stored"}))
    tool = RecallTool(ACCOUNT, client=gateway.client)

    answer = tool.answer({"query": "x", "user_id": "ben", "min_similarity": -1})

    assert answer == "Nothing that is remembered of this user bears on that."
    assert gateway.asked[0][1] == {"user_id": "ann", "query": "x"}
