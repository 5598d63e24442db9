"""OpenAI's Chat Completions interface, which many other servers speak too."""

from __future__ import annotations

from typing import Any, Final

from processors.extractors.model.faults import half_sent
from processors.extractors.model.provider import Answer, Question, Stop
from processors.extractors.model.sdk import SdkProvider, count, objects
from schemas.proposals import Usage

NAME: Final = "openai"

NO_KEY: Final = "none"
"""What is sent to a server of one's own that wants no key: the SDK insists on one."""

_STOPS: Final = {
    "stop": Stop.DONE,
    "length": Stop.CUT_OFF,
    "content_filter": Stop.REFUSED,
}


class OpenAIProvider(SdkProvider):
    """Asks one of OpenAI's models, or a server that speaks its chat interface.

    The answer is asked for in strict mode. Nothing is retried here.
    """

    def __init__(self, *, model: str, api_key: str, base_url: str | None = None) -> None:
        """Make the client; nothing is connected yet.

        Args:
            model: the model's name, as the server knows it.
            api_key: sent as a bearer token.
            base_url: the interface's root, with its version; ``None`` for the SDK's own default.

        Raises:
            ConfigurationError: the SDK is not installed.
        """
        super().__init__(
            name=NAME,
            model=model,
            make=lambda sdk: sdk.AsyncOpenAI(api_key=api_key, base_url=base_url, max_retries=0),
        )

    async def ask(self, question: Question, *, timeout_s: float) -> Answer:
        """Return the model's answer to one request.

        Raises:
            ProviderFault: there is none.
        """
        body = await self._body(
            lambda client: client.chat.completions.with_raw_response.create(
                model=self.model,
                max_completion_tokens=question.tokens_max,
                messages=[
                    {"role": "system", "content": question.system},
                    {"role": "user", "content": question.text},
                ],
                # Else the SDK walks through the schema by its own types, for each call.
                extra_body={
                    "response_format": {
                        "type": "json_schema",
                        "json_schema": {
                            "name": question.schema_name,
                            "strict": True,
                            "schema": question.schema,
                        },
                    }
                },
                timeout=timeout_s,
            ),
            timeout_s=timeout_s,
        )
        return _answer(body)


def _answer(body: dict[str, Any]) -> Answer:
    choices = objects(body.get("choices"))
    if not choices:
        raise half_sent("the answer holds no choices")
    reason = choices[0].get("finish_reason")
    message = choices[0].get("message")
    said = message if isinstance(message, dict) else {}
    content, refusal = said.get("content"), said.get("refusal")
    stop = _STOPS.get(reason, Stop.DONE) if isinstance(reason, str) else Stop.DONE
    if isinstance(refusal, str) and refusal:
        stop, reason = Stop.REFUSED, "refusal"
    usage = body.get("usage")
    cached = count(usage, "prompt_tokens_details", "cached_tokens")
    written = count(usage, "prompt_tokens_details", "cache_write_tokens")
    return Answer(
        text=content if isinstance(content, str) else "",
        stop=stop,
        stop_reason=reason if isinstance(reason, str) else "none",
        usage=Usage(
            calls=1,
            # Here the whole prompt includes what was cached; the ledger counts each token once.
            input_tokens=max(0, count(usage, "prompt_tokens") - cached - written),
            output_tokens=count(usage, "completion_tokens"),
            cache_read_tokens=cached,
            cache_write_tokens=written,
        ),
    )
