"""How a provider is asked: again where that helps, within a deadline, and not while it is away."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from processors import model_metrics
from processors.extractors.model.calling import (
    ASKED_PAUSE_MAX_S,
    PAUSES,
    REQUESTS_MAX,
    Caller,
    Deadline,
    Timing,
)
from processors.extractors.model.faults import fault_of_status, half_sent, timed_out, unreachable
from processors.extractors.model.provider import Answer, ProviderFault, Question, Result, Stop
from schemas.errors import ExtractionFailed, ExtractionRejected, ExtractorUnavailable
from schemas.proposals import Usage

ONE = Usage(calls=1, input_tokens=10)
QUESTION = Question(
    system="rules", text="a turn", schema={}, schema_name="turn_operations", tokens_max=100
)
ANSWER = Answer(text="{}", stop=Stop.DONE, stop_reason="end_turn", usage=ONE)


def status(code: int, *, name: str | None = None, **headers: str) -> ProviderFault:
    told = {header.replace("_", "-"): value for header, value in headers.items()}
    return fault_of_status(code, headers=told, code=name)


class Scene:
    """A provider that answers as told, its caller, and the time that the pauses take."""

    name = "scripted"

    def __init__(self, *script: ProviderFault | Answer, model: str = "m") -> None:
        self.model = model
        self.script = list(script)
        self.questions: list[Question] = []
        self.pauses_s: list[float] = []
        self.now_s = 1_000.0
        self.gate: asyncio.Event | None = None
        self.at_gate = asyncio.Event()
        self.caller = Caller(
            self, Timing(call_s=45, probe_s=10), sleep=self.sleep, clock=lambda: self.now_s
        )

    async def ask(self, question: Question, *, timeout_s: float) -> Answer:
        self.questions.append(question)
        self.now_s += 0.001
        assert timeout_s > 0
        if self.gate is not None and question.text == "a slow turn":
            self.at_gate.set()
            await self.gate.wait()
        step = self.script.pop(0) if self.script else ANSWER
        if isinstance(step, ProviderFault):
            raise step
        return step

    async def aclose(self) -> None:
        return

    async def sleep(self, seconds: float) -> None:
        self.pauses_s.append(seconds)
        self.now_s += seconds

    async def call(self, *, deadline_s: float = 100.0) -> Answer:
        return await self.caller.ask(QUESTION, Deadline(deadline_s))

    def count(self, result: Result) -> float:
        return float(
            model_metrics.MODEL_CALLS.labels(self.name, self.model, result.value)._value.get()
        )


def play(scene: Scene, act: Callable[[Scene], Awaitable[None]]) -> None:
    async def playing() -> None:
        await act(scene)

    asyncio.run(playing())


def passing() -> dict[str, Callable[[], ProviderFault]]:
    return {
        "408": lambda: status(408),
        "409": lambda: status(409),
        "429": lambda: status(429),
        "500": lambda: status(500),
        "503": lambda: status(503),
        "529": lambda: status(529),
        "refused connection": lambda: unreachable(ConnectionRefusedError()),
        "half": lambda: half_sent("broke off"),
        "slow": lambda: timed_out(45),
    }


@pytest.mark.parametrize("fault", passing().values(), ids=passing())
def test_what_may_pass_is_tried_again_ever_more_slowly(fault: Callable[[], ProviderFault]) -> None:
    async def act(scene: Scene) -> None:
        answer = await scene.call()
        assert answer.usage.input_tokens == 10
        assert len(scene.questions) == REQUESTS_MAX
        first, second, third = scene.pauses_s
        assert 0.25 <= first <= 0.5 <= second <= 1 <= third <= 2
        assert scene.caller.problem is None

    play(Scene(*(fault() for _ in range(REQUESTS_MAX - 1))), act)


@pytest.mark.parametrize(
    "fault", [passing()[name] for name in ("429", "529", "500", "half", "refused connection")]
)
def test_what_outlasts_the_retries_is_nobodys_turn(fault: Callable[[], ProviderFault]) -> None:
    async def act(scene: Scene) -> None:
        with pytest.raises(ExtractorUnavailable):
            await scene.call()
        assert len(scene.questions) == REQUESTS_MAX
        assert scene.caller.problem is None
        assert scene.count(fault().result) >= REQUESTS_MAX

    play(Scene(*(fault() for _ in range(REQUESTS_MAX))), act)


@pytest.mark.parametrize("code", [401, 402, 403, 404, 405, 301])
def test_what_refuses_whatever_we_send_is_not_tried_again_and_opens_the_breaker_at_once(
    code: int,
) -> None:
    async def act(scene: Scene) -> None:
        for _ in range(10):
            with pytest.raises(ExtractorUnavailable, match=f"HTTP {code}"):
                await scene.call()
        assert len(scene.questions) == 1
        assert f"HTTP {code}" in (scene.caller.problem or "")
        gauge = model_metrics.MODEL_BREAKER.labels(scene.name, scene.model)
        assert next(iter(gauge.collect())).samples[0].value == 1
        scene.now_s += PAUSES.first_s
        assert (await scene.call()).text == "{}"
        assert scene.caller.problem is None
        assert next(iter(gauge.collect())).samples[0].value == 0

    play(Scene(status(code), model=f"denied-{code}"), act)


def test_a_bill_that_is_not_paid_is_no_rate_limit() -> None:
    assert status(429, name="insufficient_quota").result is Result.DENIED
    assert status(429, name="rate_limit_exceeded").result is Result.RATE_LIMITED


@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [({"retry_after": "3"}, 3, 3.6), ({"retry_after_ms": "1500"}, 1.5, 1.8)],
)
def test_the_pause_that_the_provider_asks_for_is_kept(
    headers: dict[str, str], least: float, most: float
) -> None:
    async def act(scene: Scene) -> None:
        await scene.call()
        assert least <= scene.pauses_s[0] <= most

    play(Scene(status(429, **headers)), act)


def test_a_pause_that_is_too_long_is_waited_for_outside() -> None:
    async def act(scene: Scene) -> None:
        with pytest.raises(ExtractorUnavailable) as raised:
            await scene.call()
        assert raised.value.retry_after_s == ASKED_PAUSE_MAX_S + 1
        assert scene.pauses_s == []
        with pytest.raises(ExtractorUnavailable, match="left alone"):
            await scene.call()
        assert len(scene.questions) == 1

    play(Scene(status(429, retry_after=str(int(ASKED_PAUSE_MAX_S + 1)))), act)


def test_nothing_is_tried_beyond_the_deadline() -> None:
    async def act(scene: Scene) -> None:
        with pytest.raises(ExtractorUnavailable):
            await scene.call(deadline_s=3)
        assert len(scene.questions) == 1

    play(Scene(status(529, retry_after="4")), act)


def test_after_failures_in_a_row_one_call_tries_and_the_others_wait() -> None:
    async def act(scene: Scene) -> None:
        for _ in range(PAUSES.failures_max):
            with pytest.raises(ExtractorUnavailable):
                await scene.call()
        asked = len(scene.questions)
        with pytest.raises(ExtractorUnavailable, match="left alone"):
            await scene.call()
        assert len(scene.questions) == asked
        scene.now_s += PAUSES.first_s
        scene.script = []
        await scene.call()
        assert scene.caller.problem is None

    play(Scene(*(status(500) for _ in range(PAUSES.failures_max * REQUESTS_MAX))), act)


@pytest.mark.parametrize("code", [400, 413, 422])
def test_a_request_that_alone_is_refused_is_the_turns_fault(code: int) -> None:
    async def act(scene: Scene) -> None:
        with pytest.raises(ExtractionRejected) as raised:
            await scene.call()
        asked, probe = scene.questions
        assert (asked, probe.text) == (QUESTION, "Hello.")
        assert raised.value.usage == ONE
        assert scene.caller.problem is None

    play(Scene(status(code)), act)


def test_a_refusal_of_everything_is_the_configurations_fault() -> None:
    async def act(scene: Scene) -> None:
        with pytest.raises(ExtractorUnavailable, match="harmless"):
            await scene.call()
        assert scene.caller.problem is not None
        with pytest.raises(ExtractorUnavailable):
            await scene.call()
        assert len(scene.questions) == 2

    play(Scene(status(400), status(400)), act)


def test_a_turn_that_alone_takes_too_long_is_tried_again_and_not_waited_for() -> None:
    async def act(scene: Scene) -> None:
        with pytest.raises(ExtractionFailed) as raised:
            await scene.call()
        assert not isinstance(raised.value, ExtractionRejected)
        assert raised.value.usage.calls == REQUESTS_MAX + 1

    play(Scene(*(timed_out(45) for _ in range(REQUESTS_MAX))), act)


def test_a_provider_that_answers_nobody_in_time_is_waited_for() -> None:
    async def act(scene: Scene) -> None:
        with pytest.raises(ExtractorUnavailable):
            await scene.call()

    play(Scene(*(timed_out(45) for _ in range(REQUESTS_MAX + 1))), act)


def test_no_probe_is_sent_where_another_call_was_answered_meanwhile() -> None:
    async def act(scene: Scene) -> None:
        scene.gate = asyncio.Event()
        slow = Question(
            system="rules", text="a slow turn", schema={}, schema_name="t", tokens_max=1
        )
        waiting = asyncio.create_task(scene.caller.ask(slow, Deadline(100)))
        await scene.at_gate.wait()
        await scene.call()
        scene.script = [status(400)]
        scene.gate.set()
        with pytest.raises(ExtractionRejected):
            await waiting
        assert len(scene.questions) == 2

    play(Scene(), act)


def test_a_call_that_is_cancelled_says_nothing_of_the_provider() -> None:
    async def act(scene: Scene) -> None:
        with pytest.raises(ExtractorUnavailable):
            await scene.call()
        scene.now_s += PAUSES.first_s
        scene.gate = asyncio.Event()
        slow = Question(
            system="rules", text="a slow turn", schema={}, schema_name="t", tokens_max=1
        )
        trying = asyncio.create_task(scene.caller.ask(slow, Deadline(100)))
        await scene.at_gate.wait()
        with pytest.raises(ExtractorUnavailable, match="left alone"):
            await scene.call()
        trying.cancel()
        with pytest.raises(asyncio.CancelledError):
            await trying
        assert (await scene.call()).text == "{}"

    play(Scene(status(401)), act)


def test_a_problem_repeats_no_message_of_the_provider() -> None:
    assert "SECRET" not in str(status(400, name="SECRET" * 50))
    assert "\n" not in str(status(400, name="a\nb"))
