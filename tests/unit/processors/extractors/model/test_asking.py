"""Extractions of several questions: what is kept of one that waits, and what is told to cost."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest

from processors.extractors.model.asking import Asker, Inquiry
from processors.extractors.model.calling import REQUESTS_MAX, Caller, Timing
from processors.extractors.model.faults import fault_of_status, timed_out
from processors.extractors.model.provider import Answer, ProviderFault, Question, Stop
from processors.extractors.model.unfinished import KEPT_MAX, KEPT_S, Unfinished
from schemas.errors import ExtractionFailed, ExtractionRejected, ExtractorUnavailable
from schemas.memory import Confidence, MemoryKind
from schemas.ports import Extraction
from schemas.proposals import Action, Operation, Usage
from schemas.slots import Slot

ONE = Usage(calls=1, input_tokens=10)
ATTEMPTS = 3
TURN = UUID(int=1)
NAMES = tuple("abcdefgh")

Reply = Answer | ProviderFault


def said(*contents: str) -> Answer:
    text = json.dumps({"operations": list(contents)})
    return Answer(text=text, stop=Stop.DONE, stop_reason="end_turn", usage=ONE)


def refused() -> Answer:
    return Answer(text="", stop=Stop.REFUSED, stop_reason="refusal", usage=ONE)


def rate_limited(pause_s: int = 60) -> ProviderFault:
    return fault_of_status(429, headers={"retry-after": str(pause_s)}, code=None)


def question(name: str) -> Question:
    return Question(system="rules", text=name, schema={}, schema_name="s", tokens_max=1)


def read(lists: Mapping[str, Sequence[Any]]) -> list[Operation]:
    return [
        Operation(
            action=Action.ADD,
            kind=MemoryKind.SEMANTIC,
            slot=Slot.NOTE,
            about="user",
            content=content,
            importance=5,
            confidence=Confidence.STATED,
            quote=content,
        )
        for content in lists["operations"]
    ]


def inquiry(names: Sequence[str] = NAMES, *, of: UUID = TURN) -> Inquiry:
    return Inquiry(
        of=(of,),
        questions=[(f"part {name}", question(name)) for name in names],
        lists=("operations",),
        read=read,
    )


class Scene:
    """A provider that answers each question as told, then what it says, and an asker of it."""

    name = "scripted"
    model = "m"

    def __init__(self) -> None:
        self.script: dict[str, list[Reply]] = {}
        self.asked: Counter[str] = Counter()
        self.answers_a_minute: int | None = None
        self.answered_at: list[float] = []
        self.now_s = 1_000.0
        caller = Caller(
            self, Timing(call_s=45, probe_s=10), sleep=self.sleep, clock=lambda: self.now_s
        )
        self.asker = Asker(caller, attempts_max=ATTEMPTS, deadline_s=100)
        self.asker._unfinished._clock = lambda: self.now_s

    async def ask(self, asked: Question, *, timeout_s: float) -> Answer:
        assert timeout_s > 0
        await asyncio.sleep(0)
        self.asked[asked.text] += 1
        if self.answers_a_minute is not None:
            lately = [moment for moment in self.answered_at if moment > self.now_s - 60]
            if len(lately) >= self.answers_a_minute:
                raise rate_limited()
            self.answered_at.append(self.now_s)
        script = self.script.get(asked.text)
        reply = script.pop(0) if script else said(f"{asked.text} is said")
        if isinstance(reply, ProviderFault):
            raise reply
        return reply

    async def aclose(self) -> None:
        return

    async def sleep(self, seconds: float) -> None:
        self.now_s += seconds

    async def until_answered(self, asked: Inquiry) -> tuple[Extraction, Usage, int]:
        """Try again as a lane does; return what comes of it, all of its cost, the tries."""
        usage = Usage()
        for tries in range(1, 20):
            try:
                extraction = await self.asker.ask(asked)
            except ExtractorUnavailable as away:
                usage += away.usage
                self.now_s += away.retry_after_s or 0
            else:
                return extraction, usage + extraction.usage, tries
        raise AssertionError("it was never answered")


def play(act: Callable[[Scene], Awaitable[None]]) -> None:
    async def playing() -> None:
        await act(Scene())

    asyncio.run(playing())


def test_while_one_question_is_rate_limited_the_others_are_asked_once() -> None:
    async def act(scene: Scene) -> None:
        scene.script["h"] = [rate_limited(), rate_limited()]

        found, usage, tries = await scene.until_answered(inquiry())

        assert [operation.content for operation in found.operations] == [
            f"{name} is said" for name in NAMES
        ]
        assert (tries, scene.asked) == (3, Counter(dict.fromkeys(NAMES, 1) | {"h": 3}))
        assert usage == Usage(calls=8, input_tokens=80)
        assert found.stop_reasons == ("end_turn",) * 8
        assert len(scene.asker._unfinished) == 0

    play(act)


def test_a_limit_that_lets_three_answers_a_minute_through_is_got_through() -> None:
    async def act(scene: Scene) -> None:
        scene.answers_a_minute = 3

        found, usage, tries = await scene.until_answered(inquiry())

        assert len(found.operations) == len(NAMES)
        assert len(scene.answered_at) == 8
        assert usage == Usage(calls=8, input_tokens=80)
        assert tries > 2
        assert scene.answered_at[-1] - scene.answered_at[0] >= 120

    play(act)


def test_a_question_that_was_given_up_is_not_paid_for_again_either() -> None:
    async def act(scene: Scene) -> None:
        scene.script = {"a": [refused()] * 9, "h": [rate_limited(), rate_limited()]}

        found, usage, _ = await scene.until_answered(inquiry())

        assert scene.asked["a"] == ATTEMPTS
        assert [bad.problem for bad in found.invalid] == ["part a: the model refused (refusal)"]
        assert usage.calls == ATTEMPTS + 7
        assert sorted(found.stop_reasons) == ["end_turn"] * 7 + ["refusal"] * ATTEMPTS

    play(act)


def test_a_turn_that_was_given_up_is_asked_anew() -> None:
    async def act(scene: Scene) -> None:
        scene.script = {"a": [refused()] * ATTEMPTS, "b": [rate_limited(), said()]}
        with pytest.raises(ExtractionRejected) as raised:
            await scene.until_answered(inquiry("ab"))
        assert raised.value.usage.calls == 1  # The other calls were told of before.

        found = await scene.asker.ask(inquiry("ab"))

        assert len(found.operations) == 2
        assert scene.asked == {"a": ATTEMPTS + 1, "b": 3}

    play(act)


def test_of_several_questions_that_fail_the_cost_of_each_is_told() -> None:
    async def act(scene: Scene) -> None:
        scene.script = {
            "a": [timed_out(45) for _ in range(REQUESTS_MAX)],
            "b": [timed_out(45) for _ in range(REQUESTS_MAX)],
        }

        with pytest.raises(ExtractionFailed) as raised:
            await scene.asker.ask(inquiry("abc"))

        assert scene.asked == {"a": REQUESTS_MAX, "b": REQUESTS_MAX, "c": 1}
        assert raised.value.usage == Usage(calls=2 * REQUESTS_MAX + 1, input_tokens=10)
        assert raised.value.stop_reasons == ("end_turn",)

        found = await scene.asker.ask(inquiry("abc"))

        assert (found.usage, found.stop_reasons) == (ONE + ONE, ("end_turn",) * 2)

    play(act)


def test_an_answer_is_kept_for_the_question_that_it_answers() -> None:
    async def act(scene: Scene) -> None:
        scene.script["h"] = [rate_limited()]
        with pytest.raises(ExtractorUnavailable):
            await scene.asker.ask(inquiry())
        scene.now_s += 60

        changed = inquiry()
        about, first = changed.questions[0]
        changed = replace(
            changed,
            questions=[(about, replace(first, text="a, and more")), *changed.questions[1:]],
        )
        found, _, _ = await scene.until_answered(changed)

        assert found.operations[0].content == "a, and more is said"
        assert scene.asked == Counter([*NAMES, "h", "a, and more"])

    play(act)


def test_an_answer_is_kept_for_the_turn_that_it_is_of() -> None:
    async def act(scene: Scene) -> None:
        scene.script["h"] = [rate_limited()]
        with pytest.raises(ExtractorUnavailable):
            await scene.asker.ask(inquiry())
        scene.now_s += 60

        await scene.until_answered(inquiry(of=uuid4()))

        assert set(scene.asked.values()) == {2}

    play(act)


def test_an_extraction_that_is_cancelled_pays_for_nothing_twice_and_tells_all_of_it() -> None:
    async def act(scene: Scene) -> None:
        reached = asyncio.Event()

        async def waits(asked: Question, *, timeout_s: float) -> Answer:  # noqa: ARG001 - a provider's
            if asked.text == "h":
                reached.set()
                await asyncio.Event().wait()
            scene.asked[asked.text] += 1
            return said(f"{asked.text} is said")

        scene.asker._caller._provider = WithAsk(waits)
        running = asyncio.create_task(scene.asker.ask(inquiry()))
        await reached.wait()
        await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert set(scene.asked) == set(NAMES) - {"h"}

        scene.asker._caller._provider = scene
        found = await scene.asker.ask(inquiry())

        assert set(scene.asked.values()) == {1}
        assert found.usage == Usage(calls=8, input_tokens=80)

    play(act)


class WithAsk(Scene):
    """A provider that is one function."""

    def __init__(self, ask: Callable[..., Awaitable[Answer]]) -> None:
        self._ask = ask

    async def ask(self, asked: Question, *, timeout_s: float) -> Answer:
        return await self._ask(asked, timeout_s=timeout_s)


def kept(unfinished: Unfinished, number: int) -> bool:
    progress = unfinished.take((UUID(int=number),), [])
    return progress.usage == ONE


def test_answers_are_kept_for_a_bounded_time_and_number() -> None:
    now_s = 0.0
    unfinished = Unfinished(clock=lambda: now_s)

    def keep(number: int) -> None:
        progress = unfinished.take((UUID(int=number),), [])
        progress.usage = ONE
        unfinished.keep((UUID(int=number),), progress)

    for number in range(KEPT_MAX + 1):
        keep(number)
    assert len(unfinished) == KEPT_MAX
    assert not kept(unfinished, 0)
    assert kept(unfinished, 1)

    now_s = KEPT_S - 1
    keep(2)
    now_s = KEPT_S
    assert not kept(unfinished, 3)
    assert kept(unfinished, 2)
    assert len(unfinished) == 0


def test_nothing_is_kept_of_an_extraction_without_an_answer() -> None:
    async def act(scene: Scene) -> None:
        scene.script["a"] = [rate_limited()]
        with pytest.raises(ExtractorUnavailable):
            await scene.asker.ask(inquiry("a"))
        assert len(scene.asker._unfinished) == 0

    play(act)
