"""Anthropic's Messages interface, asked through its own SDK."""

from __future__ import annotations

from typing import Any, Final

from processors.extractors.model.provider import Answer, Question, Stop
from processors.extractors.model.sdk import SdkProvider, count, objects
from schemas.proposals import Usage

NAME: Final = "anthropic"
DEFAULT_MODEL: Final = "claude-haiku-5-5"
"""Anthropic's small model: extraction needs no more."""

_STOPS: Final = {
    "end_turn": Stop.DONE,
    "stop_sequence": Stop.DONE,
    "max_tokens": Stop.CUT_OFF,
    "model_context_window_exceeded": Stop.CUT_OFF,
    "pause_turn": Stop.CUT_OFF,
    "refusal": Stop.REFUSED,
}


class AnthropicProvider(SdkProvider):
    """Asks one of Anthropic's models, or a server that speaks its Messages interface.

    The answer is asked for in a JSON format (``output_config``), and the system prompt is marked to
    be cached. Nothing is retried here.
    """

    def __init__(self, *, model: str, api_key: str, base_url: str | None = None) -> None:
        """Make the client; nothing is connected yet.

        Args:
            model: the model's name.
            api_key: sent with each request.
            base_url: the interface's root; ``None`` for the SDK's own default.

        Raises:
            ConfigurationError: the SDK is not installed.
        """
        super().__init__(
            name=NAME,
            model=model,
            # No spans: they could carry what the user said.
            make=lambda sdk: sdk.AsyncAnthropic(
                api_key=api_key, base_url=base_url, max_retries=0, open_telemetry=False
            ),
        )
        self._schemas: dict[str, dict[str, Any]] = {}

    async def ask(self, question: Question, *, timeout_s: float) -> Answer:
        """Return the model's answer to one request.

        Raises:
            ProviderFault: there is none.
        """
        body = await self._body(
            lambda client: client.messages.with_raw_response.create(
                model=self.model,
                max_tokens=question.tokens_max,
                system=[
                    {
                        "type": "text",
                        "text": question.system,
                        "cache_control": {"type": "ephemeral"},
                    }
                ],
                messages=[{"role": "user", "content": question.text}],
                output_config={"format": {"type": "json_schema", "schema": self._schema(question)}},
                timeout=timeout_s,
            ),
            timeout_s=timeout_s,
        )
        return _answer(body)

    def _schema(self, question: Question) -> dict[str, Any]:
        """Return the schema in the form that the interface takes, made once."""
        if question.schema_name not in self._schemas:
            transformed = self._sdk.transform_schema(dict(question.schema))
            self._schemas[question.schema_name] = transformed
        return self._schemas[question.schema_name]


def _answer(body: dict[str, Any]) -> Answer:
    usage = body.get("usage")
    reason = body.get("stop_reason")
    texts = [block.get("text") for block in objects(body.get("content"))]
    return Answer(
        text="".join(text for text in texts if isinstance(text, str)),
        stop=_STOPS.get(reason, Stop.DONE) if isinstance(reason, str) else Stop.DONE,
        stop_reason=reason if isinstance(reason, str) else "none",
        usage=Usage(
            calls=1,
            input_tokens=count(usage, "input_tokens"),
            output_tokens=count(usage, "output_tokens"),
            cache_read_tokens=count(usage, "cache_read_input_tokens"),
            cache_write_tokens=count(usage, "cache_creation_input_tokens"),
        ),
    )
