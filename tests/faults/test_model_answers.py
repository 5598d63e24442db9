"""Bad answers of a language model on the real path: no turn is lost, and none counts as empty.

A real broker, a real Postgres, a worker with the real SDK, and a fake of the provider over HTTP.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from processors import metrics, model_metrics
from processors.extractors.model import calling, make_model_extractor
from processors.extractors.model.extractor import ModelExtractor
from schemas.breaker import Pauses
from schemas.events import MemoryAdded, ProposalRejected, RejectionReason
from schemas.keyring import SubjectKeys
from schemas.log.sealed import open_record
from schemas.proposals import Proposal
from schemas.records import Closing, Outcome
from schemas.settings import Settings
from schemas.topics import proposals_topic
from tests.conftest import TestStores
from tests.support.model_fake import (
    Asked,
    ModelFake,
    Reply,
    cut_off,
    half_sent,
    item,
    malformed,
    model_fake,
    nothing,
    prose_around,
    refused,
    said,
    schema_invalid,
    slowly,
    status,
)
from tests.support.model_fake.chat import Interface
from tests.support.one_process import OneProcess, Placed, opened_pipeline
from tests.support.waiting import eventually

MODEL = "a-model"
BERN = item("Lives in Bern", quote="I live in Bern", slot="residence")
OWNS = item("Has a dog called Rex", quote="I have a dog called Rex", slot="possession")
WELL = said(BERN, OWNS)

SHORT = Pauses(failures_max=2, first_s=0.3, max_s=0.6, asked_max_s=300)


@dataclass(frozen=True, kw_only=True)
class Script:
    """What the provider answers about one user's turn, and what must become of it.

    Attributes:
        replies: one by one; the last one stays.
        closing: how the turn closes.
        kept: the statements that are stored.
        invalid: how many items are told as ones that could not be read.
        calls: of the model that the ledger has counted, if its answers tell.
    """

    replies: list[Reply]
    closing: Closing = Closing.STORED
    kept: tuple[str, ...] = ("Lives in Bern", "Has a dog called Rex")
    invalid: int = 0
    calls: int | None = None


def _lost(*replies: Reply) -> Script:
    return Script(replies=list(replies), closing=Closing.DEAD_LETTERED, kept=())


SCRIPTS: Mapping[str, Script] = {
    "good": Script(replies=[WELL], calls=1),
    "nothing": Script(replies=[nothing()], closing=Closing.NOTHING_FOUND, kept=(), calls=1),
    "prose": Script(replies=[prose_around(WELL)], calls=1),
    "malformed once": Script(replies=[malformed(), WELL], calls=2),
    "malformed": _lost(malformed()),
    "empty": _lost(Reply(text="")),
    "in words": _lost(Reply(text="There is nothing to remember.")),
    "refused once": Script(replies=[refused(), WELL], calls=2),
    "refused": _lost(refused()),
    "schema once": Script(replies=[schema_invalid(), WELL], calls=2),
    "schema": _lost(schema_invalid()),
    "cut once": Script(replies=[cut_off(BERN), WELL], calls=2),
    "cut": Script(replies=[cut_off(BERN)], kept=("Lives in Bern",), invalid=1, calls=3),
    "cut at once": _lost(cut_off()),
    "slow": Script(replies=[slowly(WELL, 60), WELL], calls=2),
    "429": Script(replies=[status(429, {"retry-after": "0"}), WELL], calls=1),
    "529": Script(replies=[status(529), WELL], calls=1),
    "500": Script(replies=[status(500), WELL], calls=1),
    "half": Script(replies=[half_sent(WELL), WELL], calls=2),
    "one bad item": Script(replies=[said(BERN, {"action": "add"}, OWNS)], invalid=1, calls=1),
    "unknown ref": Script(
        replies=[said(BERN, item("x", action="update", ref="m7"), OWNS)], invalid=1, calls=1
    ),
    "bad items alone": Script(
        replies=[said(item("x", slot="colour"))],
        closing=Closing.REJECTED,
        kept=(),
        invalid=1,
        calls=3,
    ),
}


def text_of(name: str) -> str:
    return f"I live in Bern and I have a dog called Rex, by the way [{name}]."


@asynccontextmanager
async def scene(
    stores: TestStores, interface: Interface = "anthropic"
) -> AsyncIterator[tuple[OneProcess, ModelFake, ModelExtractor]]:
    """Yield a pipeline without a worker, the provider and the extractor that asks it."""
    async with model_fake() as fake, opened_pipeline(stores) as pipeline, pipeline.projecting():
        extractor = make_model_extractor(
            Settings(
                extractor=interface,
                extractor_model=MODEL,
                extractor_base_url=fake.base_url(interface),
                extractor_api_key="a-key",
                extractor_call_timeout_s=1.5,
            )
        )
        try:
            yield pipeline, fake, extractor
        finally:
            await extractor.aclose()
        assert fake.problems == []


def _count(interface: Interface, result: str) -> float:
    return float(model_metrics.MODEL_CALLS.labels(interface, MODEL, result)._value.get())


async def _outcomes(pipeline: OneProcess, placed: Mapping[str, Placed]) -> dict[str, Outcome]:
    """Return the one outcome of each turn."""
    names = {one.turn_id: name for name, one in placed.items()}
    found: dict[str, Outcome] = {}
    for _, _, outcome in await pipeline.outcomes():
        assert names[outcome.turn_id] not in found
        found[names[outcome.turn_id]] = outcome
    return found


async def _proposals(pipeline: OneProcess, placed: Mapping[str, Placed]) -> dict[str, Proposal]:
    names = {one.turn_id: name for name, one in placed.items()}
    found: dict[str, Proposal] = {}
    topic = proposals_topic(pipeline.stores.generation)
    for partition in range(pipeline.stores.partitions):
        for record in await pipeline.records(topic, partition):
            subject = record.header().subject
            keys = (await pipeline.keyring.keys([subject]))[subject]
            assert isinstance(keys, SubjectKeys)
            proposal = open_record(Proposal, record, keys)
            if proposal.turn_id in names:
                found[names[proposal.turn_id]] = proposal
    return found


@pytest.mark.parametrize("interface", ["anthropic", "openai"])
def test_every_scripted_answer_leaves_each_turn_accounted_for_and_its_good_items_kept(
    stores: TestStores, interface: Interface
) -> None:
    results = (
        "answered", "malformed", "schema_invalid", "truncated", "refused", "rate_limited",
        "overloaded", "server_error", "timed_out", "half_sent",
    )  # fmt: skip

    async def run() -> None:
        async with scene(stores, interface) as (pipeline, fake, extractor):
            fake.by_text = {f"[{name}]": list(script.replies) for name, script in SCRIPTS.items()}
            placed = {name: await pipeline.say(name, text_of(name)) for name in SCRIPTS}
            placed["small talk"] = await pipeline.say("small talk", "Thanks a lot!")
            before = {result: _count(interface, result) for result in results}
            invalid = metrics.INVALID_ITEMS._value.get()
            async with pipeline.working(extractor):
                await pipeline.all_closed(list(placed.values()))
            outcomes = await _outcomes(pipeline, placed)
            proposals = await _proposals(pipeline, placed)

            for name, script in SCRIPTS.items():
                _check(interface, name, script, outcomes[name], proposals.get(name))
            assert outcomes["small talk"].closing is Closing.NOTHING_FOUND
            assert proposals["small talk"].skipped is not None
            assert proposals["small talk"].usage.calls == 0
            assert not any("Thanks" in text for asked in fake.asked for text in asked.user_texts)
            uncounted = {one for one in results if _count(interface, one) == before[one]}
            assert uncounted == set()
            told = sum(script.invalid for script in SCRIPTS.values())
            assert metrics.INVALID_ITEMS._value.get() == invalid + told
            assert await pipeline.open_turns() == []

    asyncio.run(run())


def _check(
    interface: Interface, name: str, script: Script, outcome: Outcome, proposal: Proposal | None
) -> None:
    assert outcome.closing is script.closing, name
    stored = [event.memory.content for event in outcome.events if isinstance(event, MemoryAdded)]
    assert stored == list(script.kept), name
    rejected = [
        event
        for event in outcome.events
        if isinstance(event, ProposalRejected) and RejectionReason.INVALID_ITEM in event.reasons
    ]
    assert len(rejected) == script.invalid, name
    if script.closing is Closing.DEAD_LETTERED:
        assert proposal is None, name
        assert outcome.error == "ExtractionRejected", name
        return
    assert proposal is not None, name
    assert len(proposal.invalid) == script.invalid, name
    assert (proposal.extractor, proposal.model) == (interface, MODEL)
    assert proposal.stop_reasons, name
    assert script.calls in (None, proposal.usage.calls), name


def test_while_the_provider_gives_no_answers_turns_wait_and_none_is_given_up_or_paid_for_twice(
    stores: TestStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calling, "PAUSES", SHORT)
    monkeypatch.setattr(calling, "BACKOFF_MAX_S", 0.05)
    monkeypatch.setattr(calling, "BACKOFF_FIRST_S", 0.05)

    async def run() -> None:
        async with scene(stores) as (pipeline, fake, extractor):

            async def told() -> str | None:
                return extractor.problem

            given_up, closed = _given_up(), 0
            async with pipeline.working(extractor):
                for reply in (status(401), status(529)):
                    fake.standing = _always(reply)
                    placed = [
                        await pipeline.say(f"user-{number}", text_of("x")) for number in range(20)
                    ]
                    assert "HTTP" in await eventually(told, what="the model to be left alone")
                    assert _breaker() == 1
                    assert len(await pipeline.outcomes()) == closed
                    fake.standing = _always(WELL)
                    await pipeline.all_closed(placed)
                    assert extractor.problem is None
                    assert _breaker() == 0
                    closed += len(placed)
                monkeypatch.setattr(calling, "ASKED_PAUSE_MAX_S", 0.5)
                await _a_long_turn_gets_through_a_rate_limit_piece_by_piece(pipeline, fake)
                closed += 1
            outcomes = await pipeline.outcomes()
            assert len(outcomes) == closed
            assert {outcome.closing for _, _, outcome in outcomes} == {Closing.STORED}
            assert _given_up() == given_up

    asyncio.run(run())


async def _a_long_turn_gets_through_a_rate_limit_piece_by_piece(
    pipeline: OneProcess, fake: ModelFake
) -> None:
    first, last = "I live in Bern.", "I have a dog called Rex."
    later = status(429, {"retry-after": "1"})
    fake.by_text = {first: [said(BERN)], last: [later, later, said(OWNS)]}
    fake.asked.clear()
    placed = await pipeline.say("long", f"{first} {'x ' * 72_000} {last}")
    await pipeline.all_closed([placed])

    asked = [" ".join(asked.user_texts) for asked in fake.asked]
    assert sum(last in text for text in asked) == 3
    assert len(asked) == len(set(asked)) + 2
    proposal = (await _proposals(pipeline, {"long": placed}))["long"]
    assert proposal.usage.calls == len(set(asked)) > 2
    kept = [operation.content for operation in proposal.operations]
    assert kept == ["Lives in Bern", "Has a dog called Rex"]


def _always(reply: Reply) -> Callable[[Asked], Reply]:
    return lambda _: reply


def _breaker() -> float:
    samples = next(iter(model_metrics.MODEL_BREAKER.collect())).samples
    wanted = {"extractor": "anthropic", "model": MODEL}
    return next(sample.value for sample in samples if sample.labels == wanted)


def _given_up() -> float:
    samples = next(iter(metrics.DEAD_LETTERS.collect())).samples
    return sum(sample.value for sample in samples if sample.name.endswith("_total"))
