"""A request as it came, read as the provider would, with what is wrong with it."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.model_fake.chat import Interface, chat_problems

_SAMPLING = ("temperature", "top_p", "top_k")
_USER = re.compile(r"<user[^>]*>\n(.*?)\n</user>", re.DOTALL)
_KNOWN = re.compile(r"^(m\d+) \d{4}-\d{2}-\d{2} ", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request.

    Attributes:
        interface: whose it speaks.
        headers: by their names in lower case.
        body: the decoded body.
        raw: the body as it came.
    """

    interface: Interface
    headers: Mapping[str, str]
    body: dict[str, Any]
    raw: bytes = b""

    @property
    def is_chat(self) -> bool:
        """Whether a chat app asks, and no extractor: it asks for no format."""
        return "output_config" not in self.body and "response_format" not in self.body

    @property
    def system(self) -> str:
        """The rules."""
        if self.interface == "anthropic":
            return "".join(block["text"] for block in self.body["system"])
        return "".join(self._of_role("system"))

    @property
    def text(self) -> str:
        """The question."""
        return "".join(self._of_role("user"))

    @property
    def schema(self) -> Any:
        """The JSON Schema of the answer."""
        if self.interface == "anthropic":
            return self.body["output_config"]["format"]["schema"]
        return self.body["response_format"]["json_schema"]["schema"]

    @property
    def tokens_max(self) -> int:
        """Most tokens of the answer."""
        name = "max_tokens" if self.interface == "anthropic" else "max_completion_tokens"
        return int(self.body[name])

    @property
    def user_texts(self) -> list[str]:
        """What the user said, block by block, as it was before it was escaped."""
        return [html.unescape(text) for text in _USER.findall(self.text)]

    @property
    def known(self) -> list[str]:
        """The short names of the known memories."""
        return _KNOWN.findall(self.text)

    def problems(self) -> list[str]:
        """Return what a provider would refuse the request for."""
        found = [f"{name} is sent" for name in _SAMPLING if name in self.body]
        if not self.headers.get("authorization", "").startswith("Bearer "):
            found.append("no key")
        if not self.body.get("model"):
            found.append("no model")
        if self.is_chat:
            return found + chat_problems(self.interface, self.headers, self.body)
        try:
            found += self._anthropic() if self.interface == "anthropic" else self._openai()
            found += _not_strict(self.schema)
            if not self.text.strip() or not self.system.strip():
                found.append("an empty message")
        except (KeyError, TypeError, ValueError) as error:
            found.append(f"{type(error).__name__}: {error}")
        return found

    def _anthropic(self) -> list[str]:
        found = []
        if not self.headers.get("anthropic-version"):
            found.append("no version")
        if self.body["output_config"]["format"]["type"] != "json_schema":
            found.append("no JSON format")
        if self.body["system"][-1].get("cache_control") != {"type": "ephemeral"}:
            found.append("the rules are not to be cached")
        if self.tokens_max < 1:
            found.append("no room for an answer")
        return found

    def _openai(self) -> list[str]:
        asked = self.body["response_format"]
        found = []
        if asked["type"] != "json_schema" or asked["json_schema"]["strict"] is not True:
            found.append("not in strict mode")
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", asked["json_schema"]["name"]):
            found.append("no name for the schema")
        return found

    def _of_role(self, role: str) -> list[str]:
        return [message["content"] for message in self.body["messages"] if message["role"] == role]


def _not_strict(schema: Any) -> list[str]:
    """Return what of a schema strict modes do not take."""
    found = []
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            if schema.get("additionalProperties") is not False:
                found.append("an object is open")
            if sorted(schema.get("required", [])) != sorted(schema["properties"]):
                found.append("a field is optional")
        found += [problem for value in schema.values() for problem in _not_strict(value)]
    if isinstance(schema, list):
        found += [problem for value in schema for problem in _not_strict(value)]
    return found
