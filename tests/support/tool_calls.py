"""A fake model that calls tools, as either provider spells it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.support.model_fake import Reply


def tool_use(name: str, told: Mapping[str, Any], *, call_id: str = "toolu_1") -> Reply:
    """Return an answer of Anthropic's that calls a tool."""
    body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "model-1",
        "content": [{"type": "tool_use", "id": call_id, "name": name, "input": dict(told)}],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    return Reply(body=json.dumps(body))


def function_call(name: str, arguments: str, *, call_id: str = "call_1") -> Reply:
    """Return an answer of OpenAI's that calls a function."""
    call = {
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }
    message = {"role": "assistant", "content": None, "refusal": None, "tool_calls": [call]}
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "model-1",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
    return Reply(body=json.dumps(body))


def tool_results(body: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """Return what the tools answered in the last message of a request, and whether as an error.

    Args:
        body: a request to Anthropic's Messages API.
    """
    blocks = body["messages"][-1]["content"]
    return [(_text(block["content"]), bool(block.get("is_error"))) for block in blocks]


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(block["text"] for block in content)
