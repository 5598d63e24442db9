"""A tenant asks so much of one gateway and no more; others, and health, do not feel it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import REGISTRY

from deploy.processes.rate_limits import Bucket, Policy, RateLimiter, RateLimits
from schemas.errors import ConfigurationError, RateLimited
from schemas.http import MEDIA_TYPE
from schemas.request_context import answering
from tests.unit.test_documented_api import HEADERS, gateway

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "rate_limits.toml"
TURN = {"user_id": "u", "conversation_id": "c", "user_text": "hello"}


class _Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def _limiter(**rates: float | str) -> tuple[RateLimiter, _Clock]:
    clock = _Clock()
    limits = RateLimits.model_validate({"default": rates})
    return RateLimiter(limits, clock=clock), clock


def test_a_burst_passes_and_then_the_rate() -> None:
    limiter, clock = _limiter(requests_per_s=2, requests_burst=3)
    for _ in range(3):
        limiter.admit_request("acme")
    for _ in range(4):
        with pytest.raises(RateLimited) as caught:
            limiter.admit_request("acme")
        assert caught.value.retry_after_s == 1
        clock.now += 0.5
        limiter.admit_request("acme")


def test_tenants_do_not_feel_each_other() -> None:
    limiter, _ = _limiter(requests_per_s=1, requests_burst=1)
    limiter.admit_request("acme")
    limiter.admit_request("acme-corp")
    for tenant in ("acme", "acme-corp"):
        with pytest.raises(RateLimited):
            limiter.admit_request(tenant)


def test_a_list_above_the_burst_is_let_in_and_paid_for() -> None:
    limiter, clock = _limiter(turns_per_s=10, turns_burst=100)
    limiter.admit_turns("acme", 500)
    with pytest.raises(RateLimited) as caught:
        limiter.admit_turns("acme", 1)
    assert caught.value.retry_after_s == 41  # 400 owed and one to spend, at ten a second
    clock.now += 40
    with pytest.raises(RateLimited):
        limiter.admit_turns("acme", 1)
    clock.now += 0.1
    limiter.admit_turns("acme", 1)


def test_requests_and_turns_are_counted_apart() -> None:
    limiter, _ = _limiter(requests_per_s=1, requests_burst=1, turns_per_s=1, turns_burst=1)
    limiter.admit_request("acme")
    limiter.admit_turns("acme", 1)
    with pytest.raises(RateLimited, match="requests"):
        limiter.admit_request("acme")
    with pytest.raises(RateLimited, match="turns"):
        limiter.admit_turns("acme", 1)


@given(
    st.floats(0.1, 100),
    st.floats(1, 200),
    st.lists(st.tuples(st.floats(0, 5), st.integers(1, 500)), max_size=60),
)
def test_over_any_time_no_more_is_let_in_than_burst_rate_and_one_list(
    rate: float, burst: float, asked: list[tuple[float, int]]
) -> None:
    bucket = Bucket(rate=rate, burst=burst, level=burst, at=0.0)
    now = 0.0
    admitted: list[int] = []
    for pause, count in asked:
        now += pause
        before = bucket.level
        wait_s = bucket.take(count, now)
        assert wait_s >= 0
        if wait_s == 0:
            admitted.append(count)
            # Of what was let in before the last list, all is paid for or owed within the burst.
            assert sum(admitted[:-1]) <= burst + rate * now + 1e-6
        else:
            assert before <= 1
            # Whoever waits as long as they are told is let in.
            later = Bucket(rate=rate, burst=burst, level=bucket.level, at=now)
            assert later.take(count, now + wait_s + 1e-6) == 0


def test_what_is_left_is_told_in_every_answer() -> None:
    limiter, clock = _limiter(requests_per_s=2, requests_burst=4, turns_per_s=10)
    with answering("a") as context:
        limiter.admit_request("acme")
        limiter.admit_turns("acme", 15)
    assert context.headers == {
        "RateLimit-Policy": '"requests";q=4;w=2, "turns";q=20;w=2',
        "RateLimit": '"requests";r=3;t=1, "turns";r=5;t=2',
    }
    clock.now += 60
    with answering("b") as context:
        limiter.admit_request("acme")
    assert context.headers["RateLimit"] == '"requests";r=3;t=1'


def test_without_a_file_there_is_no_limit_and_nothing_is_told() -> None:
    limiter = RateLimiter(RateLimits.read(None))
    with answering("a") as context:
        for _ in range(10_000):
            limiter.admit_request("acme")
        limiter.admit_turns("acme", 500)
    assert context.headers == {}


def test_the_shipped_example_can_be_read_and_a_tenants_own_rate_counts() -> None:
    limits = RateLimits.read(EXAMPLE)
    assert limits.of("other").limit(Policy.REQUESTS) == (50, 200)
    assert limits.of("acme").limit(Policy.REQUESTS) == (500, 200)
    assert limits.of("acme").limit(Policy.TURNS) is None
    assert limits.of("other").limit(Policy.TURNS) == (100, 1000)


@pytest.mark.parametrize(
    "text",
    ["[default]\nrequests_per_s = 0", "[default]\nturns_burst = 0.5", "[default]\nspeed = 1",
     "[default]\nrequests_per_s = 'fast'", "[tenants]\nacme = 5"],
    ids=["no rate", "no burst", "unknown", "no number", "no table"],
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_refused_by_its_field(text: str, tmp_path: Path) -> None:
    path = tmp_path / "rates.toml"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match="MEMLEDGER_RATE_LIMITS"):
        RateLimits.read(path)


def test_over_http_too_much_is_429_with_what_to_do_and_health_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "rates.toml"
    path.write_text("[default]\nrequests_per_s = 0.001\nrequests_burst = 3\n"
                    "turns_per_s = 0.001\nturns_burst = 2\n")  # fmt: skip

    def limited(policy: str) -> float:
        labels = {"tenant": "acme", "policy": policy}
        return REGISTRY.get_sample_value("memledger_rate_limited_total", labels) or 0

    async def act() -> None:
        transport = httpx.ASGITransport(gateway(rate_limits=path))
        async with httpx.AsyncClient(
            transport=transport, base_url="http://gateway", headers=HEADERS
        ) as client:
            first = await client.post("/v1/turns", json={"turns": [TURN] * 5})
            assert first.status_code == 202
            assert first.headers["ratelimit-policy"] == '"requests";q=3;w=3000, "turns";q=2;w=2000'
            before = limited("turns"), limited("requests")
            turns = await client.post("/v1/turns", json=TURN)
            assert (turns.status_code, turns.json()["code"]) == (429, "rate_limited")
            assert int(turns.headers["retry-after"]) > 3000
            assert '"turns";r=0' in turns.headers["ratelimit"]
            assert (await client.get("/v1/pause?user_id=u")).status_code == 200
            asked = await client.get("/v1/pause?user_id=u")
            assert (asked.status_code, asked.json()["code"]) == (429, "rate_limited")
            assert asked.headers["content-type"] == MEDIA_TYPE
            assert '"requests";r=0' in asked.headers["ratelimit"]
            assert (limited("turns"), limited("requests")) == (before[0] + 1, before[1] + 1)
            for address in ("/healthz", "/metrics", "/docs", "/openapi.json"):
                assert (await client.get(address)).status_code == 200

    asyncio.run(act())
