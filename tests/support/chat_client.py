"""A chat application: posts turns under ids of its own, again until each is accepted."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import httpx

from tests.support.waiting import wait_until

_POLL_S = 0.1


@dataclass(frozen=True, kw_only=True, slots=True)
class Accepted:
    """A turn that was answered with 202.

    Attributes:
        turn_id: its id in the log.
        partition, offset: where the answer said that it stands.
        text: what the user said.
    """

    turn_id: UUID
    partition: int
    offset: int
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """How a request was answered.

    Attributes:
        status: the HTTP status; 0 where there was no answer at all.
        retry_after: the header of that name.
        body: the JSON body, if there was one.
        at_s: when, by the monotonic clock.
    """

    status: int
    retry_after: str | None = None
    body: Any = None
    at_s: float = field(default_factory=time.monotonic)


@dataclass(slots=True, eq=False)
class ChatClient:
    """Posts one list after the other, so that each user's turns keep their order.

    Attributes:
        url: the API.
        api_key: its key.
        accepted: what was accepted, by user and the client's own id of the turn.
        answers: every answer so far.
    """

    url: str
    api_key: str
    accepted: dict[tuple[str, str], Accepted] = field(default_factory=dict)
    answers: list[Answer] = field(default_factory=list)

    def post_lists(
        self, turns: Sequence[dict[str, Any]], *, length: int = 100, timeout_s: float = 240.0
    ) -> None:
        """Post turns in lists and return once each was accepted.

        Raises:
            AssertionError: a turn was refused for good, or time ran out.
        """
        with httpx.Client(timeout=60.0) as http:
            for begin in range(0, len(turns), length):
                waiting = list(turns[begin : begin + length])
                wait_until(
                    lambda waiting=waiting: self._all_accepted(http, waiting),  # type: ignore[misc] # mypy infers no types for the default
                    what=f"turns from {begin} on to be accepted",
                    timeout_s=timeout_s,
                    poll_s=_POLL_S,
                )

    def post_raw(self, body: bytes) -> Answer:
        """Post a body as it is, once."""
        with httpx.Client(timeout=60.0) as http:
            return self._post(http, content=body)

    def post(self, turn: dict[str, Any]) -> Answer:
        """Post one turn, once."""
        with httpx.Client(timeout=60.0) as http:
            answer = self._post(http, json=turn)
        if answer.status == httpx.codes.ACCEPTED:
            self._accept(turn, answer.body)
        return answer

    def _all_accepted(self, http: httpx.Client, waiting: list[dict[str, Any]]) -> bool:
        """Post what waits, and keep in ``waiting`` what is to be sent again."""
        answer = self._post(http, json={"turns": waiting})
        if not isinstance(answer.body, dict) or "results" not in answer.body:
            assert answer.status in (0, 429, 503), answer
            return False
        again = []
        for turn, result in zip(waiting, answer.body["results"], strict=True):
            if result["status"] == "accepted":
                self._accept(turn, result)
            else:
                assert result["error"]["retry"], (turn, result)
                again.append(turn)
        waiting[:] = again
        return not again

    def _accept(self, turn: dict[str, Any], result: dict[str, str]) -> None:
        partition, offset = map(int, result["position"].split(":"))
        turn_id = UUID(result["turn_id"])
        known = self.accepted.get((turn["user_id"], turn["turn_id"]))
        assert known is None or known.turn_id == turn_id, "one turn was given two ids"
        self.accepted[turn["user_id"], turn["turn_id"]] = Accepted(
            turn_id=turn_id,
            partition=partition,
            offset=offset,
            text=turn["user_text"],
        )

    def _post(self, http: httpx.Client, **body: Any) -> Answer:
        headers = {
            "Authorization": f"Bearer {self.api_key}",
            "Content-Type": "application/json",
        }
        try:
            response = http.post(f"{self.url}/v1/turns", headers=headers, **body)
        except httpx.TransportError:
            answer = Answer(status=0)
        else:
            answer = Answer(
                status=response.status_code,
                retry_after=response.headers.get("Retry-After"),
                body=response.json(),
            )
        self.answers.append(answer)
        return answer
