"""``memledger demo``: the story of one user, end to end, through the real pipeline."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any, Final, Literal
from uuid import UUID, uuid4

import click
import httpx
from rich.console import Console

from deploy.addresses import resolve, running_settings
from deploy.cli.lifecycle import supervisor_holds, wait_until_ready
from deploy.cli.output import console, json_option, print_json, shown, table
from deploy.embedded import obstacle_to_the_broker
from deploy.embedded.jars import are_at_hand
from deploy.home import Home, RunState
from deploy.throwaway import READY_TIMEOUT_S, throwaway_pipeline
from deploy.trace import TurnTrace, trace_turn
from deploy.wiring import keyring_of
from schemas.errors import MemledgerError
from schemas.events import MemoryAdded, MemoryConfirmed, MemoryEvent, MemorySuperseded
from schemas.settings import DEFAULT_TENANT, Settings

_SIGNALLED: Final = 128
_REQUEST_TIMEOUT_S: Final = 30.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One turn of the story."""

    conversation_id: str
    occurred_at: str
    user_text: str
    assistant_text: str


STORY: Final = (
    Line(
        conversation_id="january",
        occurred_at="2026-01-12T09:30:00+05:30",
        user_text="Hi! I live in Bangalore and I'm vegetarian.",
        assistant_text="Nice to meet you. Shall I look for vegetarian places nearby?",
    ),
    Line(
        conversation_id="january",
        occurred_at="2026-01-12T09:32:00+05:30",
        user_text="Thanks, that's great!",
        assistant_text="Any time.",
    ),
    Line(
        conversation_id="june",
        occurred_at="2026-06-03T20:15:00+05:30",
        user_text="Big news! I moved to Pune for a new job.",
        assistant_text="Congratulations! Pune is lovely in the monsoon.",
    ),
)

QUESTIONS: Final = ("Which city does the user live in?", "What food can I suggest for dinner?")


@click.command()
@json_option
def demo(*, as_json: bool) -> None:
    """Tell one user's story: what each stage did, what is recalled, which words caused it.

    Uses the pipeline that runs under MEMLEDGER_HOME, or starts one in a temporary directory and
    removes it afterwards: with the trial broker, where this machine cannot have the Kafka broker.
    """
    signal.signal(signal.SIGTERM, _end)
    settings = running_settings()
    announce = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    with _pipeline(settings, announce) as (home, state):
        story = _tell(home, state)
        if as_json:
            print_json(story.as_json())
        else:
            story.print()


def _end(number: int, _: FrameType | None) -> None:
    # An exception, unlike the signal's default, lets what was started be stopped.
    raise SystemExit(_SIGNALLED + number)


@contextmanager
def _pipeline(settings: Settings, announce: Console) -> Iterator[tuple[Home, RunState]]:
    given = Home(settings.home)
    if supervisor_holds(given):
        yield given, wait_until_ready(given, timeout_s=READY_TIMEOUT_S, announce=announce)
        return
    with throwaway_pipeline(
        announce,
        prefix="memledger-demo-",
        purpose="the demonstration",
        environment={"MEMLEDGER_BROKER": _broker_at_hand(settings, announce)},
    ) as running:
        yield running


def _broker_at_hand(settings: Settings, announce: Console) -> Literal["kafka", "trial"]:
    if settings.kafka_bootstrap is not None or "broker" in settings.model_fields_set:
        return settings.broker
    if not are_at_hand():
        announce.print("· looking for Java, and fetching the Kafka broker's jars with Maven, once")
    obstacle = obstacle_to_the_broker()
    if obstacle is None:
        return "kafka"
    announce.print(f"· {obstacle.problem} The trial broker stands in for it.")
    return "trial"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Story:
    """What the demonstration found out.

    Attributes:
        user: the user's id.
        traces: by turn, what the log holds.
        seconds: from the first turn to the last one's being recallable.
        recalls: by question, the answer of the API.
        memories: the listing with its history.
    """

    user: str
    traces: list[TurnTrace]
    seconds: float
    recalls: dict[str, dict[str, Any]]
    memories: list[dict[str, Any]]

    def as_json(self) -> dict[str, Any]:
        """Return the story as JSON."""
        return {
            "user": self.user,
            "seconds": round(self.seconds, 3),
            "turns": [_trace_json(trace) for trace in self.traces],
            "recalls": self.recalls,
            "memories": self.memories,
        }

    def print(self) -> None:
        """Print the story for a person."""
        out = console()
        out.print(f"One user's story (user {self.user})\n", style="bold")
        for number, trace in enumerate(self.traces, start=1):
            _print_trace(out, number, trace)
        out.print(
            f"all three turns were recallable {self.seconds:.2f} s after the first was sent\n"
        )
        for question, answer in self.recalls.items():
            out.print(f"recall  {question}", style="bold")
            for memory in answer["memories"]:
                out.print(f"  {memory['score']:.2f}  {memory['content']}   ← “{memory['quote']}”")
            if not answer["memories"]:
                out.print(f"  nothing: {answer['reason']}")
        rows = table("memory", "state", "true from", "to", "the words that caused it")
        for memory in self.memories:
            rows.add_row(
                memory["content"],
                memory["state"],
                memory["valid_from"][:10],
                (memory["valid_to"] or "")[:10],
                f"“{memory['quote']}”",
            )
        out.print("\nmemories, with history", style="bold")
        out.print(rows)


def _tell(home: Home, state: RunState) -> _Story:
    user = f"demo-{uuid4().hex[:8]}"
    headers = {"Authorization": f"Bearer {home.api_key_file.read_text().strip()}"}
    with httpx.Client(
        base_url=state.gateway_url, headers=headers, timeout=_REQUEST_TIMEOUT_S
    ) as client:
        started = time.monotonic()
        accepted = [_post_turn(client, user, line) for line in STORY]
        last = accepted[-1]["position"]
        recalls = {
            question: _call(
                client,
                "POST",
                "/v1/recall",
                json={"user_id": user, "query": question, "at_least": last},
            )
            for question in QUESTIONS[:1]
        }
        seconds = time.monotonic() - started
        for question in QUESTIONS[1:]:
            recalls[question] = _call(
                client, "POST", "/v1/recall", json={"user_id": user, "query": question}
            )
        listing = _call(client, "GET", "/v1/memories", params={"user_id": user, "history": "true"})
    traces = asyncio.run(_traces(user, accepted))
    return _Story(
        user=user,
        traces=traces,
        seconds=seconds,
        recalls=recalls,
        memories=sorted(listing["memories"], key=lambda memory: memory["valid_from"]),
    )


def _post_turn(client: httpx.Client, user: str, line: Line) -> dict[str, Any]:
    return _call(
        client,
        "POST",
        "/v1/turns",
        json={
            "user_id": user,
            "conversation_id": line.conversation_id,
            "user_text": line.user_text,
            "assistant_text": line.assistant_text,
            "occurred_at": line.occurred_at,
        },
    )


def _call(client: httpx.Client, method: str, path: str, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401 - httpx's own
    try:
        answer = client.request(method, path, **arguments)
    except httpx.HTTPError as error:
        raise MemledgerError(f"{method} {path} failed: {error}") from None
    if answer.is_error:
        raise MemledgerError(
            f"{method} {path} was answered with {answer.status_code}: {answer.text}"
        )
    body: dict[str, Any] = answer.json()
    return body


async def _traces(user: str, accepted: list[dict[str, Any]]) -> list[TurnTrace]:
    settings = running_settings()
    addresses = resolve(settings)
    async with keyring_of(settings, addresses) as keyring:
        keys = (await keyring.subjects_for(DEFAULT_TENANT, [user], create=False))[user]
        found = [
            await trace_turn(
                addresses.kafka_bootstrap,
                keys=keys,
                generation=settings.generation,
                turn_id=UUID(turn["turn_id"]),
                partition=int(turn["position"].partition(":")[0]),
            )
            for turn in accepted
        ]
    return [trace for trace in found if trace is not None]


def _print_trace(out: Console, number: int, trace: TurnTrace) -> None:
    position = trace.turn_record.position
    sealed = trace.turn_record.value or b""
    out.print(
        f"turn {number}  {trace.turn.occurred_at:%Y-%m-%d}  “{shown(trace.turn.user_text)}”",
        style="bold",
    )
    out.print(
        f"  appended   {position.topic}[{position.partition}] offset {position.offset}, "
        f"sealed: {sealed[:12].hex()}… ({len(sealed)} bytes)"
    )
    if trace.proposal is not None:
        proposed = "; ".join(
            f"{operation.action.value} {operation.slot.value}: {operation.content}"
            for operation in trace.proposal.operations
        )
        out.print(f"  proposed   by {trace.proposal.extractor}: {proposed or 'nothing'}")
    if trace.outcome is not None:
        out.print(f"  decided    {trace.outcome.closing.value.replace('_', ' ')}")
        for event in trace.outcome.events:
            out.print(f"             {_event_text(event)}")
    out.print()


def _event_text(event: MemoryEvent) -> str:
    match event:
        case MemoryAdded():
            return f"{event.event}: {event.memory.content}"
        case MemorySuperseded():
            return f"{event.event}: {event.memory.content} (the old version closes on that day)"
        case MemoryConfirmed():
            return f"{event.event}: said again"
        case _:
            return event.event


def _trace_json(trace: TurnTrace) -> dict[str, Any]:
    position = trace.turn_record.position
    return {
        "turn": trace.turn.model_dump(mode="json"),
        "position": f"{position.partition}:{position.offset}",
        "proposal": None if trace.proposal is None else trace.proposal.model_dump(mode="json"),
        "outcome": None
        if trace.outcome is None
        else trace.outcome.model_dump(
            mode="json", exclude={"events": {"__all__": {"memory": {"embedding"}}}}
        ),
    }
