"""What asking models has cost, added up, and what it would cost, estimated without asking any."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from deploy.cli import main
from deploy.cli.costs_print import print_spent
from deploy.cli.costs_sums import spent_json
from deploy.estimate.counting import Assumed
from deploy.estimate.modes import MODES, Estimate, Estimator
from deploy.estimate.tokens import tokens_in
from deploy.estimate.turns import sessions_of
from processors.extractors.model.chunks import PIECE_CHARACTERS, PIECES_MAX
from schemas.prices import Prices
from schemas.proposals import Usage
from schemas.records import Turn
from schemas.settings import Settings
from schemas.spending import Spend
from tests.support.labelled import as_turn

SINCE = date(2026, 3, 1)
BEGIN = datetime(2026, 3, 1, 9, tzinfo=UTC)
PRICES = Prices.model_validate(
    {
        "currency": "EUR",
        "models": {"m": {"input": 1, "output": 10, "cache_read": "0.1", "cache_write": 2}},
    }
)


def spend(model: str = "m", *, tenant: str = "acme", day: date = SINCE, turns: int = 1) -> Spend:
    usage = Usage() if model == "rules" else Usage(calls=1, input_tokens=1000, output_tokens=100)
    return Spend(
        day=day,
        tenant=tenant,
        extractor="rules" if model == "rules" else "anthropic",
        model=model,
        closings=1,
        turns=turns,
        usage=usage,
    )


def test_what_was_spent_is_added_up_by_tenant_and_model_and_by_day() -> None:
    rows = [
        spend(turns=4),
        spend(day=SINCE + timedelta(days=1)),
        spend(tenant="other"),
        spend("rules", tenant="other"),
    ]

    told = spent_json(rows, PRICES, since=SINCE, tenant=None)

    acme, rules, other = (
        next(one for one in told["models"] if (one["tenant"], one["model"]) == key)
        for key in (("acme", "m"), ("other", "rules"), ("other", "m"))
    )
    assert (acme["closings"], acme["turns"], acme["usage"]["input_tokens"]) == (2, 5, 2000)
    assert (Decimal(acme["money"]), Decimal(acme["money_per_turn"])) == (
        Decimal("0.004"),
        Decimal("0.0008"),
    )
    assert (rules["money"], other["money"]) == ("0", "0.002")
    assert [(one["day"], one["tenant"], one["turns"]) for one in told["days"]] == [
        ("2026-03-01", "acme", 4),
        ("2026-03-01", "other", 2),
        ("2026-03-02", "acme", 1),
    ]
    assert Decimal(told["total"]["money"]) == Decimal("0.006")
    assert told["currency"] == "EUR"


@pytest.mark.parametrize("prices", [PRICES, None])
def test_money_of_which_a_part_is_not_known_is_not_told_as_less(
    prices: Prices | None, capsys: pytest.CaptureFixture[str]
) -> None:
    told = spent_json([spend(), spend("unpriced")], prices, since=SINCE, tenant=None)

    assert told["total"]["money"] is None
    assert "unpriced" in told["unpriced_models"]
    print_spent(told)
    printed = capsys.readouterr().out
    assert "no price is known for the model unpriced" in printed
    assert "?" in printed


def test_where_nothing_was_asked_that_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    print_spent(spent_json([], PRICES, since=SINCE, tenant="acme"))

    assert capsys.readouterr().out == "nothing was asked since 2026-03-01 for the tenant acme\n"


def conversation(*texts: str, gap: timedelta = timedelta(minutes=1)) -> list[Turn]:
    return [
        as_turn(text).model_copy(update={"occurred_at": BEGIN + index * gap})
        for index, text in enumerate(texts)
    ]


def estimated(mode: str, *conversations: Sequence[Turn], **assumed: float) -> Estimate:
    settings = Settings(session_idle_s=600)
    taken = Assumed(known=0, **assumed)  # type: ignore[arg-type] # of its own fields
    return asyncio.run(Estimator(settings, taken).estimate(mode, conversations))


def test_each_mode_asks_as_often_as_it_would() -> None:
    first = conversation("I live in Pune", "thanks!", "remember that I hate phones", "bye")
    second = conversation("hi", "lol")

    turn, session, hybrid = (estimated(mode, first, second) for mode in MODES)

    assert (turn.usage.calls, turn.asked, turn.sessions) == (2, 2, 0)
    assert turn.kept_away == {"small_talk": 4}
    # A session of which every turn holds nothing needs no call.
    assert (session.usage.calls, session.asked, session.sessions) == (1, 4, 2)
    assert session.kept_away == {"small_talk": 1}
    assert (hybrid.usage.calls, hybrid.asked, hybrid.sessions) == (2, 4, 2)
    assert turn.turns == session.turns == hybrid.turns == 6


def test_the_rules_are_read_from_the_cache_for_the_assumed_share_of_the_calls() -> None:
    talk = conversation("I live in Pune", "I work in Mumbai")

    never, always = (estimated("turn", talk, cached_share=share).usage for share in (0.0, 1.0))

    assert never.cache_read_tokens == always.cache_write_tokens == 0
    assert never.cache_write_tokens == always.cache_read_tokens > 1000
    assert never.input_tokens == always.input_tokens < 200


def test_known_memories_and_new_ones_cost_tokens() -> None:
    talk = conversation("I live in Pune")
    settings = Settings()

    def usage(assumed: Assumed) -> Usage:
        return asyncio.run(Estimator(settings, assumed).estimate("turn", [talk])).usage

    bare = usage(Assumed(known=0, memories_per_turn=0))
    shown = usage(Assumed(known=10, memories_per_turn=0))
    told = usage(Assumed(known=0, memories_per_turn=2))

    assert shown.input_tokens > bare.input_tokens + 150
    assert told.output_tokens == bare.output_tokens + 180


def test_a_long_turn_is_a_bounded_number_of_calls_and_its_end_is_counted() -> None:
    long = conversation("word " * (PIECE_CHARACTERS // 5 * 3))
    longest = conversation("word " * 80_000)

    assert estimated("turn", long).usage.calls == 3
    usage = estimated("turn", longest).usage
    assert usage.calls == PIECES_MAX
    assert usage.input_tokens >= tokens_in(longest[0].user_text)


@given(st.lists(st.integers(0, 1200), min_size=1, max_size=40), st.integers(1, 10))
def test_sessions_hold_every_turn_once_in_order(gaps_s: list[int], turns_max: int) -> None:
    said, moment = [], BEGIN
    for gap in gaps_s:
        moment += timedelta(seconds=gap)
        said.append(as_turn("a").model_copy(update={"occurred_at": moment}))

    sessions = list(sessions_of(said, idle_s=600, turns_max=turns_max))

    assert [turn for session in sessions for turn in session] == said
    assert all(len(session) <= turns_max for session in sessions)
    for session in sessions:
        for one, other in itertools.pairwise(session):
            assert other.occurred_at - one.occurred_at < timedelta(seconds=600)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("ab c" * 25, 22), ("", 0), ("2026", 3.4), ("дом", 1.38), ("你好", 1.8), ("a, b", 1.16)],
)
def test_tokens_go_by_the_letters(text: str, tokens: float) -> None:
    assert tokens_in(text) == pytest.approx(tokens)


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["costs", *arguments])
    return result.exit_code, result.stdout + result.stderr


@pytest.fixture
def export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("DATABASE_URL", "KAFKA_BOOTSTRAP", "MEMLEDGER_PRICES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MEMLEDGER_HOME", str(tmp_path / "home"))
    path = tmp_path / "turns.jsonl"
    lines: list[dict[str, Any]] = [
        {"user_id": "ann", "conversation_id": "c", "user_text": text, "turn_id": str(number)}
        for number, text in enumerate(["hello", "I live in Pune", "thanks", "My cat is grey"])
    ]
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


def test_a_file_is_estimated_without_a_pipeline_or_a_model(
    export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prices = Path(__file__).parents[2] / "docs" / "examples" / "prices.toml"
    monkeypatch.setenv("MEMLEDGER_PRICES", str(prices))

    status, out = run("--estimate", str(export), "--model", "claude-haiku-5-5", "--json")
    told = json.loads(out)

    assert status == 0
    assert (told["turns"], told["conversations"], told["currency"]) == (4, 1, "USD")
    assert set(told["modes"]) == set(MODES)
    turn = told["modes"]["turn"]
    assert (turn["asked_turns"], turn["kept_away"]) == (2, {"small_talk": 2})
    assert abs(Decimal(turn["money"]) - Decimal(turn["money_per_turn"]) * 4) < Decimal("0.0000001")
    assert Decimal(0) < Decimal(turn["money_per_turn"]) < Decimal("0.001")
    status, out = run("--estimate", str(export), "--mode", "session", "--model", "claude-haiku-5-5")
    assert status == 0
    assert "4 turns of 1 conversations, estimated" in out
    assert "session" in out


def test_without_a_price_an_estimate_tells_tokens_and_says_so(export: Path) -> None:
    status, out = run("--estimate", str(export), "--json")
    assert (status, json.loads(out)["modes"]["turn"]["money"]) == (0, None)

    status, out = run("--estimate", str(export))
    assert status == 0
    assert "no price is known: name a file of prices in MEMLEDGER_PRICES" in out


def test_an_option_that_would_change_nothing_is_refused(export: Path) -> None:
    status, out = run("--estimate", str(export), "--tenant", "acme")
    assert (status, "--tenant" in out, "estimate" in out) == (2, True, True)

    status, out = run("--mode", "turn")
    assert (status, "--mode" in out) == (2, True)


def test_a_file_without_turns_is_unusable(tmp_path: Path, export: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("\n", encoding="utf-8")

    status, out = run("--estimate", str(empty))

    assert export.exists()
    assert status == 2
    assert "no turn" in out or "cannot" in out or "empty" in out
