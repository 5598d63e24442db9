"""A summary on a real broker and Postgres: made, gone with a turn, and made again without it."""

from __future__ import annotations

import asyncio
import json

from processors.extractors.model.extractor import ModelExtractor
from processors.extractors.model.making import make_model_extractor
from projections.summaries import PostgresSummaries, Summaries
from schemas.settings import Settings
from schemas.topics import TURNS
from tests.conftest import TestStores
from tests.support.compaction import bury
from tests.support.model_fake import ModelFake, Reply, model_fake, nothing
from tests.support.model_fake.asked import Asked
from tests.support.one_process import OneProcess, Placed, opened_pipeline
from tests.support.waiting import eventually

CODE_WORD = "My cat is called Mimi."
WISH = "I want a train to Graz."


def summing_up(asked: Asked) -> Reply:
    """Repeat what the user said, where it is asked for a summary; else there is nothing."""
    if "sentences" not in asked.schema["properties"]:
        return nothing()
    return Reply(text=json.dumps({"sentences": asked.user_texts}))


def extractor_of(fake: ModelFake) -> ModelExtractor:
    """Return the real extractor, which talks to the fake."""
    settings = Settings(
        extractor="openai",
        extractor_model="model-1",
        extractor_base_url=fake.base_url("openai"),
        extractor_api_key="key",
    )
    return make_model_extractor(settings, environment={})


async def told(pipeline: OneProcess, placed: Placed) -> Summaries:
    """Return what is told of a user's sessions."""
    return await PostgresSummaries(pipeline.read_model).latest(placed.keys.subject)


async def summary_is(pipeline: OneProcess, placed: Placed, text: str | None) -> None:
    """Return once the newest summary of a user is this one, or there is none."""

    async def so() -> bool:
        found = (await told(pipeline, placed)).summaries
        return (found[0].summary if found else None) == text

    await eventually(so, what=f"the summary to be {text!r}")


def summaries_asked(fake: ModelFake) -> list[list[str]]:
    """Return what the fake was asked to sum up."""
    return [asked.user_texts for asked in fake.asked if "sentences" in asked.schema["properties"]]


def test_a_summary_goes_with_its_turn_and_is_made_again_by_another_worker(
    stores: TestStores,
) -> None:
    async def run() -> None:
        async with (
            model_fake() as fake,
            opened_pipeline(stores) as pipeline,
        ):
            fake.standing = summing_up
            user = await pipeline.user_in(0)
            first, second = await pipeline.say(user, CODE_WORD), await pipeline.say(user, WISH)
            session = {"extraction_mode": "session", "session_idle_s": 1}
            async with pipeline.projecting():
                async with pipeline.working(extractor_of(fake), **session):
                    await summary_is(pipeline, first, f"{CODE_WORD} {WISH}")
                found = await told(pipeline, first)
                assert CODE_WORD in found.injection
                assert found.summaries[0].extractor == "openai"
                assert summaries_asked(fake) == [[CODE_WORD, WISH]]

                # Nobody works: the words are gone at once, and nothing takes their place.
                records = await pipeline.records(TURNS, 0)
                (gone,) = [one for one in records if one.position.offset == first.offset]
                await asyncio.to_thread(bury, stores.kafka_bootstrap, [gone])
                await summary_is(pipeline, first, None)
                assert (await told(pipeline, first)).remaking
            # The projector is another one too: all that is known stands in the tables.
            async with (
                pipeline.projecting(),
                pipeline.working(extractor_of(fake), **session),
            ):
                await summary_is(pipeline, second, WISH)
            assert summaries_asked(fake) == [[CODE_WORD, WISH], [WISH]]
            found = await told(pipeline, first)
            assert not found.remaking
            assert "Mimi" not in found.injection
            assert fake.problems == []

    asyncio.run(run())
