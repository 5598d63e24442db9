"""The real SDKs over real HTTP against fakes of both providers: every answer, good and bad."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID

import pytest

from processors import model_metrics
from processors.extractors.model.anthropic import AnthropicProvider
from processors.extractors.model.asking import TOKENS_MAX
from processors.extractors.model.chunks import PIECES_MAX
from processors.extractors.model.extractor import ModelExtractor
from processors.extractors.model.making import extractor_around
from processors.extractors.model.openai import OpenAIProvider
from producers.turns_input import TEXT_CHARACTERS_MAX
from schemas.errors import ExtractionFailed, ExtractionRejected, ExtractorUnavailable
from schemas.ports import (
    ConsolidationRequest,
    Consolidator,
    Extraction,
    KnownMemory,
    SessionExtractor,
    SessionRequest,
)
from schemas.proposals import Action, Usage
from schemas.records import Turn
from schemas.settings import Settings
from tests.contracts.extractors import KNOWN, SAID_AT, request
from tests.support.log_writer import memory
from tests.support.model_fake import (
    ModelFake,
    Reply,
    cut_off,
    dripping,
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
from tests.support.model_fake.replies import CACHED_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS

SAID = "I live in Bern. I love tea."
BERN = item("Lives in Bern", quote="I live in Bern.", slot="residence")
TEA = item("Loves tea", quote="I love tea.", slot="preference")
ATTEMPTS = 3


@dataclass
class Scene:
    """A fake and an extractor that asks it through the provider's own SDK."""

    fake: ModelFake
    extractor: ModelExtractor

    async def extract(self, text: str = SAID) -> Extraction:
        return await self.extractor.extract(request(text, *KNOWN))

    def count(self, result: str) -> float:
        counter = model_metrics.MODEL_CALLS.labels(
            self.extractor.name, self.extractor.model, result
        )
        return float(counter._value.get())

    def tokens(self, kind: str) -> float:
        counter = model_metrics.MODEL_TOKENS.labels(self.extractor.name, self.extractor.model, kind)
        return float(counter._value.get())


Act = Callable[[Scene], Awaitable[None]]


@cache
def provider(interface: Interface) -> AnthropicProvider | OpenAIProvider:
    """Return a provider; making its client takes longer than most tests."""
    make = AnthropicProvider if interface == "anthropic" else OpenAIProvider
    return make(model="a-model", api_key="a-key", base_url="http://127.0.0.1:9")


def play(interface: Interface, act: Act, *, away: bool = False, **changed: Any) -> None:
    async def playing() -> None:
        async with model_fake() as fake:
            sdk = provider(interface)
            (client,) = sdk._clients.made
            client.base_url = "http://127.0.0.1:9" if away else fake.base_url(interface)
            settings = Settings(
                **{"extract_timeout_s": 20, "extractor_call_timeout_s": 5, **changed}
            )
            extractor = extractor_around(sdk, settings)
            extractor._caller._sleep = asyncio.sleep if away else _no_pause
            await act(Scene(fake, extractor))
            assert fake.problems == []

    asyncio.run(playing())


both = pytest.mark.parametrize("interface", ["anthropic", "openai"])


@both
def test_an_answer_is_read_and_its_cost_is_counted(interface: Interface) -> None:
    async def act(scene: Scene) -> None:
        scene.fake.replies = [said(BERN, TEA)]
        answered, cached = scene.count("answered"), scene.tokens("cache_read")

        found = await scene.extract()

        assert [operation.content for operation in found.operations] == [
            "Lives in Bern",
            "Loves tea",
        ]
        usage = Usage(
            calls=1,
            input_tokens=INPUT_TOKENS - CACHED_TOKENS,
            output_tokens=OUTPUT_TOKENS,
            cache_read_tokens=CACHED_TOKENS,
        )
        assert found.usage == usage
        assert found.stop_reasons == (("end_turn",) if interface == "anthropic" else ("stop",))
        assert found.invalid == ()
        assert scene.count("answered") == answered + 1
        assert scene.tokens("cache_read") == cached + CACHED_TOKENS
        (asked,) = scene.fake.asked
        assert asked.user_texts == [SAID]
        assert asked.known == ["m1", "m2"]
        assert asked.headers["authorization"] == "Bearer a-key"

    play(interface, act)


@both
def test_what_surely_holds_nothing_is_not_asked_about(interface: Interface) -> None:
    async def act(scene: Scene) -> None:
        for text in ("Thanks!", "Hello", "", "👍"):
            found = await scene.extract(text)
            assert (found.operations, found.usage) == ((), Usage())
            assert found.skipped is not None
        assert scene.fake.asked == []

    play(interface, act)


@both
@pytest.mark.parametrize(
    ("reply", "result"),
    [
        (malformed(), "malformed"),
        (Reply(text=""), "malformed"),
        (Reply(text="I found nothing to remember."), "malformed"),
        (schema_invalid(), "schema_invalid"),
        (said(item("x", slot="colour")), "schema_invalid"),
        (cut_off(), "truncated"),
        (refused(), "refused"),
        (refused('{"operations": []}'), "refused"),
        (Reply(body="{}"), None),
    ],
    ids=["malformed", "empty", "prose", "schema", "no item", "cut off", "refused",
         "refused with JSON", "another body"],
)  # fmt: skip
def test_an_answer_of_no_use_is_asked_for_again(
    interface: Interface, reply: Reply, result: str | None
) -> None:
    async def act(scene: Scene) -> None:
        before = scene.count(result) if result else 0
        scene.fake.replies = [reply, said(BERN)]

        found = await scene.extract()

        assert [operation.content for operation in found.operations] == ["Lives in Bern"]
        assert found.usage.calls == 2
        assert len(scene.fake.asked) == 2
        if result:
            assert scene.count(result) == before + 1

    play(interface, act)


@both
@pytest.mark.parametrize(
    "reply",
    [malformed(), Reply(text=""), schema_invalid(), cut_off(), refused()],
    ids=["malformed", "empty", "schema", "cut off", "refused"],
)
def test_one_that_stays_of_no_use_is_given_up_and_never_nothing(
    interface: Interface, reply: Reply
) -> None:
    async def act(scene: Scene) -> None:
        scene.fake.replies = [reply] * ATTEMPTS

        with pytest.raises(ExtractionRejected) as raised:
            await scene.extract()

        assert len(scene.fake.asked) == ATTEMPTS
        assert raised.value.usage.calls == ATTEMPTS
        assert len(raised.value.stop_reasons) == ATTEMPTS

    play(interface, act)


@both
def test_only_a_valid_empty_list_is_nothing(interface: Interface) -> None:
    async def act(scene: Scene) -> None:
        for reply in (nothing(), prose_around(nothing())):
            scene.fake.replies = [reply]
            found = await scene.extract()
            assert (found.operations, found.invalid, found.skipped) == ((), (), None)

    play(interface, act)


@both
def test_one_bad_item_costs_no_other(interface: Interface) -> None:
    async def act(scene: Scene) -> None:
        unknown = item("x", action="update", ref="m9")
        scene.fake.replies = [prose_around(said(BERN, {"action": "add"}, unknown, TEA))]

        found = await scene.extract()

        assert [operation.content for operation in found.operations] == [
            "Lives in Bern",
            "Loves tea",
        ]
        assert [entry.position for entry in found.invalid] == [1, 2]
        assert "unknown reference" in found.invalid[1].problem
        assert len(scene.fake.asked) == 1

    play(interface, act)


@both
def test_a_named_memory_is_resolved(interface: Interface) -> None:
    async def act(scene: Scene) -> None:
        scene.fake.replies = [said(item("Lives in Rome", quote="Rome", action="update", ref="M1"))]

        (found,) = (await scene.extract("I moved to Rome.")).operations

        assert (found.action, found.reference) == (Action.UPDATE, KNOWN[0].memory_id)

    play(interface, act)


@both
def test_after_a_cut_there_is_more_room_and_at_last_the_complete_items_are_kept(
    interface: Interface,
) -> None:
    async def act(scene: Scene) -> None:
        scene.fake.replies = [cut_off(BERN), cut_off(BERN), cut_off(BERN, TEA)]

        found = await scene.extract()

        assert [asked.tokens_max for asked in scene.fake.asked] == [
            TOKENS_MAX[0],
            TOKENS_MAX[1],
            TOKENS_MAX[1],
        ]
        assert [operation.content for operation in found.operations] == [
            "Lives in Bern",
            "Loves tea",
        ]
        (told,) = found.invalid
        assert "cut off" in told.problem

    play(interface, act)


@both
def test_what_a_cut_left_complete_is_kept_though_later_answers_are_of_no_use(
    interface: Interface,
) -> None:
    async def act(scene: Scene) -> None:
        scene.fake.replies = [cut_off(BERN), malformed(), refused()]

        found = await scene.extract()

        assert [operation.content for operation in found.operations] == ["Lives in Bern"]
        assert len(found.invalid) == 1

    play(interface, act)


@both
@pytest.mark.parametrize(
    ("reply", "result"),
    [
        (status(429, {"retry-after": "0"}), "rate_limited"),
        (status(529), "overloaded"),
        (status(503), "overloaded"),
        (status(500), "server_error"),
        (status(408), "server_error"),
        (status(409), "server_error"),
        (half_sent(said(BERN)), "half_sent"),
        (slowly(nothing(), 30), "timed_out"),
        (dripping(nothing(), 0.01), "timed_out"),
    ],
    ids=["429", "529", "503", "500", "408", "409", "half", "slow", "dripping"],
)
def test_what_may_pass_is_tried_again(interface: Interface, reply: Reply, result: str) -> None:
    async def act(scene: Scene) -> None:
        before = scene.count(result)
        scene.fake.replies = [reply, said(BERN)]

        found = await scene.extract()

        assert [operation.content for operation in found.operations] == ["Lives in Bern"]
        assert scene.count(result) == before + 1

    play(interface, act, extractor_call_timeout_s=0.4)


@both
def test_what_outlasts_the_retries_is_nobodys_turn_and_the_next_good_answer_ends_it(
    interface: Interface,
) -> None:
    async def act(scene: Scene) -> None:
        scene.fake.replies = [status(529, {"retry-after-ms": "1"})] * 4

        with pytest.raises(ExtractorUnavailable):
            await scene.extract()

        scene.fake.replies = []
        scene.extractor._caller._breaker._clock = lambda: 1e9
        assert (await scene.extract()).operations == ()

    play(interface, act)


@both
def test_a_server_that_is_not_there_is_nobodys_turn(interface: Interface) -> None:
    async def act(scene: Scene) -> None:
        with pytest.raises(
            ExtractorUnavailable, match="not reached: check MEMLEDGER_EXTRACTOR_BASE_URL"
        ):
            await scene.extract()
        assert scene.count("unreachable") > 0

    play(interface, act, away=True, extract_timeout_s=0.5)


@both
@pytest.mark.parametrize("code", [401, 403, 404])
def test_a_wrong_key_or_model_is_told_and_costs_no_turn(interface: Interface, code: int) -> None:
    async def act(scene: Scene) -> None:
        scene.fake.standing = lambda _: status(code, name="authentication_error")

        for _ in range(20):
            with pytest.raises(ExtractorUnavailable, match="check the key") as raised:
                await scene.extract()
            assert "SECRET" not in str(raised.value)

        assert len(scene.fake.asked) == 1
        assert f"HTTP {code} (authentication_error)" in (scene.extractor.problem or "")
        assert scene.count("denied") >= 1

    play(interface, act)


@both
def test_a_turn_that_alone_is_refused_is_at_fault_and_a_refusal_of_all_is_not(
    interface: Interface,
) -> None:
    async def act(scene: Scene) -> None:
        scene.fake.replies = [status(400), nothing()]
        with pytest.raises(ExtractionRejected):
            await scene.extract()
        assert scene.extractor.problem is None

        scene.fake.standing = lambda _: status(400)
        with pytest.raises(ExtractorUnavailable, match="harmless"):
            await scene.extract()

    play(interface, act)


@both
def test_a_turn_that_alone_is_too_slow_is_not_waited_for_without_end(interface: Interface) -> None:
    async def act(scene: Scene) -> None:
        scene.fake.by_text = {"Bern": [slowly(nothing(), 30)]}

        with pytest.raises(ExtractionFailed):
            await scene.extract()

    play(interface, act, extract_timeout_s=3.0, extractor_call_timeout_s=1.0)


@both
def test_the_longest_turn_takes_a_bounded_number_of_calls_and_its_end_is_read(
    interface: Interface,
) -> None:
    async def act(scene: Scene) -> None:
        end = "My sister Ann lives in Oslo."
        text = ("This is a long story. " * TEXT_CHARACTERS_MAX)[: TEXT_CHARACTERS_MAX - len(end)]
        scene.fake.by_text = {end: [said(item("Sister Ann lives in Oslo", quote=end))]}

        found = await scene.extract(text + end)

        assert [operation.quote for operation in found.operations] == [end]
        assert len(scene.fake.asked) == PIECES_MAX == found.usage.calls
        read = "".join(asked.user_texts[0] for asked in scene.fake.asked)
        assert len(read) >= TEXT_CHARACTERS_MAX

    play(interface, act)


@both
def test_a_piece_without_a_usable_answer_is_told_and_costs_the_others_nothing(
    interface: Interface,
) -> None:
    async def act(scene: Scene) -> None:
        text = f"I live in Bern. {'x ' * 52_000} The bad one. {'x ' * 20_000}"
        scene.fake.by_text = {"Bern": [said(BERN)], "bad one": [refused()]}

        found = await scene.extract(text)

        assert [operation.content for operation in found.operations] == ["Lives in Bern"]
        assert [entry.problem.partition(":")[0] for entry in found.invalid] == ["part 3 of 3"]

        scene.fake.by_text = {"bad one": [refused()]}
        with pytest.raises(ExtractionRejected, match="part 3 of 3: the model refused"):
            await scene.extract(text)

    play(interface, act)


@both
def test_what_other_pieces_cost_is_told_where_the_provider_is_away(interface: Interface) -> None:
    async def act(scene: Scene) -> None:
        scene.fake.by_text = {"Bern": [said(BERN)], "The end": [status(401)]}

        with pytest.raises(ExtractorUnavailable) as raised:
            await scene.extract(f"I live in Bern. {'x ' * 40_000} The end.")

        assert raised.value.usage.output_tokens == OUTPUT_TOKENS

    play(interface, act)


@both
def test_a_session_is_one_call_whose_operations_name_their_turns(interface: Interface) -> None:
    async def act(scene: Scene) -> None:
        turns = [_turn(1, "Hi!"), _turn(2, "I live in Bern."), _turn(3, "I love tea.")]
        scene.fake.replies = [
            said({**BERN, "turn": "t2"}, {**TEA, "turn": "T3"}, {**TEA, "turn": "t4"})
        ]

        found = await _session(scene.extractor, turns)

        assert [operation.turn_id for operation in found.operations] == [
            UUID(int=2),
            UUID(int=3),
        ]
        (told,) = found.invalid
        assert "unknown turn" in told.problem
        (asked,) = scene.fake.asked
        assert asked.user_texts == ["Hi!", "I live in Bern.", "I love tea."]
        assert "turn" in asked.schema["properties"]["operations"]["items"]["properties"]

        skipped = await _session(scene.extractor, [_turn(1, "Hi!"), _turn(2, "Thanks!")])
        assert skipped.skipped is not None
        assert len(scene.fake.asked) == 1

    play(interface, act)


@both
def test_a_long_session_takes_a_bounded_number_of_calls(interface: Interface) -> None:
    async def act(scene: Scene) -> None:
        turns = [_turn(number, f"Story {number}: " + "word " * 400) for number in range(1, 501)]

        found = await _session(scene.extractor, turns)

        assert (found.operations, found.usage.calls) == ((), PIECES_MAX)
        texts = "".join(text for asked in scene.fake.asked for text in asked.user_texts)
        assert all(f"Story {number}: " in texts for number in range(1, 501))

    play(interface, act)


@both
def test_memories_are_looked_through(interface: Interface) -> None:
    async def act(scene: Scene) -> None:
        memories = tuple(
            KnownMemory(reference=f"m{number}", memory=memory(UUID(int=number), UUID(int=99)))
            for number in range(1, 5)
        )
        merge = {"refs": ["m1", "m2"], "kind": "semantic", "content": "Both", "importance": 3}
        pair = {"first": "m3", "second": "m4", "why": "far apart"}
        answer = {"merges": [merge, {**merge, "refs": ["m9"]}], "contradictions": [pair]}
        scene.fake.replies = [malformed(), prose_around(_as_json(answer))]
        consolidator = scene.extractor
        assert isinstance(consolidator, Consolidator)

        found = await consolidator.consolidate(ConsolidationRequest(memories=memories, now=SAID_AT))

        assert [operation.action for operation in found.operations] == [
            Action.MERGE,
            Action.CONTRADICT,
        ]
        assert len(found.invalid) == 1
        assert found.usage.calls == 2
        nobody = await consolidator.consolidate(ConsolidationRequest(memories=(), now=SAID_AT))
        assert nobody.usage.calls == 0

    play(interface, act)


@both
def test_the_assistants_words_are_kept_only_where_the_switch_is_on(interface: Interface) -> None:
    tip = item("The assistant recommended Lucia's", quote="Try Lucia's.", said_by="assistant")

    async def extracted(scene: Scene) -> Extraction:
        scene.fake.standing = lambda _: said(tip)
        asked = request("Where can I eat with my son Tom?", assistant_text="Try Lucia's.")
        return await scene.extractor.extract(asked)

    async def kept(scene: Scene) -> None:
        (found,) = (await extracted(scene)).operations
        assert (found.about, found.quote) == ("assistant", "Try Lucia's.")

    async def dropped(scene: Scene) -> None:
        found = await extracted(scene)
        assert found.operations == ()
        assert [entry.problem for entry in found.invalid] == ["the assistant's words are not kept"]

    play(interface, kept, extractor_keep_assistant_statements=True)
    play(interface, dropped)


def test_the_rules_are_the_same_byte_for_byte_and_marked_to_be_cached() -> None:
    async def act(scene: Scene) -> None:
        await scene.extract()
        await scene.extract("I moved to Rome last week.")
        first, second = scene.fake.asked
        for name in ("system", "output_config", "model"):
            assert first.body[name] == second.body[name]
        assert first.text != second.text

    play("anthropic", act)


async def _no_pause(_: float) -> None:
    """Make none: how long pauses are is tested without a network."""


def _turn(number: int, text: str) -> Turn:
    return request(text).turn.model_copy(update={"turn_id": UUID(int=number)})


async def _session(extractor: ModelExtractor, turns: list[Turn]) -> Extraction:
    reader = extractor
    assert isinstance(reader, SessionExtractor)
    return await reader.extract_session(SessionRequest(turns=tuple(turns), known=()))


def _as_json(answer: dict[str, Any]) -> Reply:
    return Reply(text=json.dumps(answer))
