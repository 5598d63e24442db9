"""What a use of a model costs: exact money, and nothing where no price is known."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import ConfigurationError
from schemas.prices import Prices, cost
from schemas.proposals import Usage

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "prices.toml"

FILE = """
currency = "EUR"

[models.small]
input = 0.1
output = 0.5
cache_read = 0.01
cache_write = 0.125

[models.small.above]
prompt_tokens = 1000
input = 0.3
output = 1.5
cache_read = 0.03
cache_write = 0.375
"""

counts = st.integers(0, 10**12)
usages = st.builds(
    Usage,
    calls=st.integers(1, 1000),
    input_tokens=counts,
    output_tokens=counts,
    cache_read_tokens=counts,
    cache_write_tokens=counts,
)


@pytest.fixture
def prices(tmp_path: Path) -> Prices:
    return read(tmp_path, FILE)


def read(directory: Path, text: str) -> Prices:
    path = directory / "prices.toml"
    path.write_text(text, encoding="utf-8")
    found = Prices.read(path)
    assert found is not None
    return found


def test_each_sort_of_token_has_its_price_and_money_is_exact(prices: Prices) -> None:
    usage = Usage(
        calls=1000,
        input_tokens=300_000,
        output_tokens=100_000,
        cache_read_tokens=400_000,
        cache_write_tokens=8_000,
    )

    assert prices.currency == "EUR"
    assert prices.cost(usage, "small") == Decimal("0.085")


def test_a_model_without_a_price_costs_nothing_known(prices: Prices) -> None:
    usage = Usage(calls=1, input_tokens=1)

    assert prices.cost(usage, "large") is None
    assert cost(None, usage, "small") is None
    assert cost(prices, usage, "small") == Decimal("0.0000001")


def test_where_nothing_was_used_nothing_was_paid(prices: Prices) -> None:
    assert prices.cost(Usage(), "rules") == 0
    assert cost(None, Usage(), "rules") == 0


def test_long_prompts_cost_what_the_tier_says(prices: Prices) -> None:
    at_the_limit = Usage(calls=1, input_tokens=500, cache_read_tokens=500)
    beyond = Usage(calls=1, input_tokens=501, cache_read_tokens=500)
    two_calls = Usage(calls=2, input_tokens=2000)

    assert prices.cost(at_the_limit, "small") == Decimal("0.000055")
    assert prices.cost(beyond, "small") == Decimal("0.0001653")
    assert prices.cost(two_calls, "small") == Decimal("0.0002")


@given(usages, usages)
def test_what_is_paid_never_falls_when_more_is_used(first: Usage, second: Usage) -> None:
    flat = Prices.model_validate(
        {
            "currency": "EUR",
            "models": {"m": {"input": 1, "output": 5, "cache_read": "0.1", "cache_write": "1.25"}},
        }
    )
    both = Usage(
        calls=first.calls + second.calls,
        input_tokens=first.input_tokens + second.input_tokens,
        output_tokens=first.output_tokens + second.output_tokens,
        cache_read_tokens=first.cache_read_tokens + second.cache_read_tokens,
        cache_write_tokens=first.cache_write_tokens + second.cache_write_tokens,
    )
    one, other, together = (flat.cost(usage, "m") for usage in (first, second, both))

    assert one is not None
    assert other is not None
    assert together == one + other


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("currency = 'EUR'\n[models.a]\ninput = 1", "models.a.output: Field required"),
        (FILE.replace("output = 0.5", "output = -1"), "models.small.output: Input should be"),
        (FILE.replace("output = 0.5", "output = inf"), "models.small.output"),
        (FILE.replace("output = 0.5", "output = 'dear'"), "models.small.output"),
        (FILE.replace("prompt_tokens = 1000", "prompt_tokens = 0"), "above.prompt_tokens"),
        (FILE.replace("prompt_tokens", "tokens"), "models.small.above.tokens: Extra inputs"),
        (FILE.replace('currency = "EUR"', ""), "currency: Field required"),
        ("currency =", "is not TOML"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_by_field(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(ConfigurationError, match="MEMLEDGER_PRICES") as refused:
        read(tmp_path, text)

    assert said in str(refused.value)
    assert "prices.toml" in str(refused.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        Prices.read(tmp_path / "none.toml")


def test_no_file_is_no_price() -> None:
    assert Prices.read(None) is None


def test_the_example_can_be_used_and_prices_a_long_prompt_by_its_tier() -> None:
    prices = Prices.read(EXAMPLE)
    assert prices is not None

    short = prices.cost(Usage(calls=1, input_tokens=100_000), "claude-haiku-5-5")
    long = prices.cost(Usage(calls=1, input_tokens=200_000), "claude-haiku-5-5")

    assert (short, long) == (Decimal("0.01"), Decimal("0.1"))
