"""A tenant whose budget is spent is told so, whoever spent it, and the next day it may go on."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy.budgeting import costs_nothing_of
from processors import budget_metrics
from processors.budget import Budgets
from processors.budget_limits import BudgetLimits, Measure, Period, require_price
from schemas.errors import ConfigurationError, ReadModelUnavailable
from schemas.prices import Prices
from schemas.proposals import Usage
from schemas.records import Turn
from schemas.settings import Settings
from schemas.spending import Spend
from tests.support.turns import new_keys, sealed_turn

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "budgets.toml"
NOON = datetime(2026, 3, 31, 12, tzinfo=UTC)
PRICES = Prices.model_validate(
    {
        "currency": "EUR",
        "models": {"m": {"input": 1, "output": 5, "cache_read": 1, "cache_write": 1}},
    }
)


class Ledger:
    """Sums that a test sets."""

    def __init__(self) -> None:
        self.rows: list[Spend] = []
        self.asked: list[tuple[date, str | None]] = []
        self.away = False

    def add(self, day: date, tokens: int, *, model: str = "m", tenant: str = "acme") -> None:
        self.rows.append(
            Spend(
                day=day,
                tenant=tenant,
                extractor="anthropic",
                model=model,
                closings=1,
                turns=1,
                usage=Usage(calls=1, input_tokens=tokens),
            )
        )

    async def spent(self, *, since: date, tenant: str | None = None) -> tuple[Spend, ...]:
        self.asked.append((since, tenant))
        await asyncio.sleep(0)
        if self.away:
            raise ReadModelUnavailable("away")
        return tuple(row for row in self.rows if row.day >= since and row.tenant == tenant)


class Scene:
    """Budgets whose clocks a test moves."""

    def __init__(self, limits: BudgetLimits, prices: Prices | None = PRICES) -> None:
        self.ledger = Ledger()
        self.now = NOON
        self.seconds = 1000.0
        self.budgets = Budgets(
            limits,
            self.ledger,
            prices,
            fresh_s=5,
            clock=lambda: self.now,
            monotonic=lambda: self.seconds,
        )


def limits(**of: object) -> BudgetLimits:
    return BudgetLimits.model_validate({"default": of})


def asked(scene: Scene, tenant: str | None = "acme") -> tuple[Period, Measure] | None:
    state = asyncio.run(scene.budgets.exhausted(tenant))
    return None if state is None else (state.period, state.measure)


def test_without_a_limit_the_ledger_is_not_even_asked() -> None:
    scene = Scene(limits())
    of_another = Scene(BudgetLimits.model_validate({"tenants": {"other": {"tokens_per_day": 0}}}))

    assert asked(scene) is None
    assert asked(of_another) is None
    assert asked(Scene(limits(tokens_per_day=0)), None) is None
    assert scene.ledger.asked == of_another.ledger.asked == []


def test_a_day_is_over_at_midnight_utc_and_a_month_with_its_last_day() -> None:
    scene = Scene(limits(tokens_per_day=100, tokens_per_month=1000))
    scene.ledger.add(date(2026, 2, 28), 5000)
    scene.ledger.add(date(2026, 3, 30), 99)
    scene.ledger.add(date(2026, 3, 31), 99)

    assert asked(scene) is None
    assert scene.ledger.asked == [(date(2026, 3, 1), "acme")]

    scene.ledger.add(date(2026, 3, 31), 1)
    scene.seconds += 5
    state = asyncio.run(scene.budgets.exhausted("acme"))
    assert state is not None
    assert (state.period, state.measure) == (Period.DAY, Measure.TOKENS)
    assert (state.limit, state.spent) == (Decimal(100), Decimal(100))
    assert state.until == datetime(2026, 4, 1, tzinfo=UTC)

    # It counts although the sums are fresh.
    scene.now = datetime(2026, 4, 1, 0, 0, 1, tzinfo=UTC)
    assert asked(scene) is None


def test_of_several_limits_the_one_that_holds_longest_is_told() -> None:
    scene = Scene(limits(tokens_per_day=10, tokens_per_month=10, money_per_day=0))
    scene.ledger.add(date(2026, 3, 31), 10)

    state = asyncio.run(scene.budgets.exhausted("acme"))

    assert state is not None
    assert state.until == datetime(2026, 4, 1, tzinfo=UTC)
    scene.now = datetime(2026, 3, 15, 1, tzinfo=UTC)
    scene.ledger.rows.clear()
    scene.ledger.add(date(2026, 3, 15), 10)
    state = asyncio.run(scene.budgets.exhausted("acme"))
    assert state is not None
    assert (state.period, state.until) == (Period.MONTH, datetime(2026, 4, 1, tzinfo=UTC))


def test_money_is_limited_by_the_prices() -> None:
    scene = Scene(limits(money_per_day=Decimal("0.002")))
    scene.ledger.add(date(2026, 3, 31), 1999)
    assert asked(scene) is None

    scene.ledger.add(date(2026, 3, 31), 1)
    scene.seconds += 5
    assert asked(scene) == (Period.DAY, Measure.MONEY)


def test_what_has_no_price_counts_towards_no_limit_in_money_and_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    scene = Scene(limits(money_per_day=1, tokens_per_day=10**9))
    scene.ledger.add(date(2026, 3, 31), 10**8, model="unpriced")

    assert asked(scene) is None
    assert "no price is known for the model 'unpriced'" in caplog.text


def test_sums_are_read_again_only_when_they_are_old() -> None:
    scene = Scene(limits(tokens_per_day=100))

    async def many() -> None:
        await asyncio.gather(*(scene.budgets.exhausted("acme") for _ in range(50)))
        scene.seconds += 4.9
        await scene.budgets.exhausted("acme")

    asyncio.run(many())
    assert len(scene.ledger.asked) == 1

    scene.seconds += 0.1
    assert asked(scene) is None
    assert len(scene.ledger.asked) == 2


def test_a_ledger_that_is_away_is_no_leave_to_spend() -> None:
    scene = Scene(limits(tokens_per_day=100))
    scene.ledger.away = True

    with pytest.raises(ReadModelUnavailable):
        asked(scene)


def test_what_this_worker_spent_counts_before_the_ledger_shows_it() -> None:
    scene = Scene(limits(tokens_per_day=100))
    assert asked(scene) is None

    with scene.budgets.asking("acme", "m") as asking:
        asking.spent(Usage(calls=1, input_tokens=60, output_tokens=40))
        assert asked(scene) == (Period.DAY, Measure.TOKENS)
    # It is applied, but the sums are older.
    assert asked(scene) == (Period.DAY, Measure.TOKENS)

    scene.seconds += 5
    assert asked(scene) is None
    scene.ledger.add(date(2026, 3, 31), 100)
    scene.seconds += 5
    assert asked(scene) == (Period.DAY, Measure.TOKENS)


def test_what_is_applied_while_the_sums_are_read_is_not_forgotten() -> None:
    scene = Scene(limits(tokens_per_day=100))

    async def run() -> None:
        with scene.budgets.asking("acme", "m") as asking:
            asking.spent(Usage(calls=1, input_tokens=100))
            reading = asyncio.create_task(scene.budgets.exhausted("acme"))
            await asyncio.sleep(0)  # it asks the ledger, which answers without this call
            scene.seconds += 1
        assert scene.ledger.asked
        assert not reading.done()
        assert await reading is not None

    asyncio.run(run())


def test_calls_in_flight_count_as_the_average_of_those_before() -> None:
    scene = Scene(limits(tokens_per_day=1000))
    with scene.budgets.asking("acme", "m") as asking:
        asking.spent(Usage(calls=1, input_tokens=300))
    scene.ledger.add(date(2026, 3, 31), 300)
    scene.seconds += 5
    assert asked(scene) is None

    with scene.budgets.asking("acme", "m"), scene.budgets.asking("acme", "m"):
        assert asked(scene) is None
        with scene.budgets.asking("acme", "m"):
            assert asked(scene) == (Period.DAY, Measure.TOKENS)
    # None of the three said that it had cost anything.
    assert asked(scene) is None


def test_another_tenants_calls_do_not_count() -> None:
    scene = Scene(limits(tokens_per_day=100))

    with scene.budgets.asking("other", "m") as asking:
        asking.spent(Usage(calls=1, input_tokens=100))
        assert asked(scene) is None
        assert asked(scene, "other") == (Period.DAY, Measure.TOKENS)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=40), st.integers(1, 8))
def test_one_worker_passes_a_limit_by_less_than_its_first_calls_in_flight(
    costs: list[int], in_flight: int
) -> None:
    scene = Scene(limits(tokens_per_day=200))
    spent = 0
    waiting = list(costs)

    async def run() -> None:
        nonlocal spent
        while waiting and await scene.budgets.exhausted("acme") is None:
            batch = [waiting.pop() for _ in range(min(in_flight, len(waiting)))]
            for tokens in batch:
                with scene.budgets.asking("acme", "m") as asking:
                    asking.spent(Usage(calls=1, input_tokens=tokens))
                spent += tokens
                scene.ledger.add(date(2026, 3, 31), tokens)
            scene.seconds += 0.5

    asyncio.run(run())
    assert spent < 200 + in_flight * 50


def test_the_metrics_tell_of_tenants_with_a_limit() -> None:
    scene = Scene(limits(tokens_per_day=200))
    scene.ledger.add(date(2026, 3, 31), 150, tenant="metered")

    assert asked(scene, "metered") is None
    assert budget_metrics.USED.labels("metered")._value.get() == 0.75
    assert budget_metrics.EXHAUSTED.labels("metered")._value.get() == 0
    scene.ledger.add(date(2026, 3, 31), 150, tenant="metered")
    scene.seconds += 5
    assert asked(scene, "metered") is not None
    assert budget_metrics.EXHAUSTED.labels("metered")._value.get() == 1


def read(directory: Path, text: str) -> BudgetLimits:
    path = directory / "budgets.toml"
    path.write_text(text, encoding="utf-8")
    return BudgetLimits.read(path)


def test_a_tenants_own_limits_count_instead_of_the_defaults() -> None:
    held = BudgetLimits.read(EXAMPLE)

    assert held.in_money
    assert set(held.of("acme").limits()) == {
        (Period.DAY, Measure.MONEY, Decimal(5)),
        (Period.MONTH, Measure.MONEY, Decimal(100)),
    }
    assert set(held.of("another").limits()) == {
        (Period.DAY, Measure.TOKENS, Decimal(2_000_000)),
        (Period.MONTH, Measure.TOKENS, Decimal(40_000_000)),
    }
    assert list(BudgetLimits.read(None).of("acme").limits()) == []


def test_what_a_tenant_does_not_say_is_left_to_the_default() -> None:
    held = BudgetLimits.model_validate(
        {
            "default": {"tokens_per_day": 5, "tokens_per_month": 50},
            "tenants": {"acme": {"tokens_per_day": 7}},
        }
    )

    assert set(held.of("acme").limits()) == {
        (Period.DAY, Measure.TOKENS, Decimal(7)),
        (Period.MONTH, Measure.TOKENS, Decimal(50)),
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[default]\ntokens_per_day = -1", "default.tokens_per_day"),
        ("[default]\ntokens_per_day = 1.5", "default.tokens_per_day"),
        ("[default]\ntokens_per_week = 1", "default.tokens_per_week"),
        ("[tenants.a]\nmoney_per_day = 'much'", "tenants.a.money_per_day"),
        ("[tenant.a]\nmoney_per_day = 1", "tenant: Extra inputs"),
        ("[default", "is not TOML"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_by_field(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(ConfigurationError, match="MEMLEDGER_BUDGETS") as refused:
        read(tmp_path, text)

    assert said in str(refused.value)


def test_limits_in_money_need_a_price() -> None:
    in_money, in_tokens = limits(money_per_day=1), limits(tokens_per_day=1)

    with pytest.raises(ConfigurationError, match="no price is known for the model 'm'"):
        require_price(in_money, model="m", priced=False)
    require_price(in_money, model="m", priced=True)
    require_price(in_tokens, model="m", priced=False)


@pytest.mark.parametrize("kept", [False, True])
def test_small_talk_costs_nothing_whatever_the_assistant_answers_where_that_is_not_kept(
    kept: bool,
) -> None:
    settings = Settings(extractor_keep_assistant_statements=kept)
    costs_nothing = costs_nothing_of(settings)
    long = "I recommend the Italian place. " * 50

    def turn(text: str, answer: str) -> Turn:
        return sealed_turn(new_keys(), text, partitions=1, assistant_text=answer).turn

    assert costs_nothing(turn("Thanks!", "You are welcome."))
    assert costs_nothing(turn("Thanks!", long)) is not kept
    assert not costs_nothing(turn("I live in Rome.", "I see."))
