"""``memledger summaries`` shows what sessions came to, and why there is nothing to show."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from deploy.cli import main
from deploy.cli import summaries as verb
from projections.summaries import NoSummaries, SessionSummary, Summaries
from schemas.events import RejectionReason
from schemas.summaries import WithoutSummary
from tests.support.log_writer import NOON

FOUND = SessionSummary(
    conversation_id="chat-7",
    summary="Wants a train to Graz.",
    reason=None,
    turns=3,
    first_said_at=NOON,
    last_said_at=NOON,
    refused={RejectionReason.ONE_TIME_CODE: 1},
    cut=0,
    shortened=2,
    more=True,
    extractor="openai",
    model="model-1",
    made_at=NOON,
)


def run(monkeypatch: pytest.MonkeyPatch, found: Summaries, *options: str) -> Result:
    """Run the verb where that is found."""

    async def asked(tenant: str, user: str, conversation: str | None, limit: int) -> Summaries:
        assert (tenant, user, conversation, limit) == ("local", "ann", None, 10)
        return found

    monkeypatch.setattr(verb, "_asked", asked)
    return CliRunner().invoke(main, ["summaries", "--user", "ann", *options])


def test_it_shows_summaries_with_what_was_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Summaries(summaries=(FOUND,), injection="block", reason=None, remaking=False)
    ran = run(monkeypatch, found)

    assert ran.exit_code == 0
    assert "chat-7" in ran.stdout
    shown = " ".join(ran.stdout.split())
    assert "Wants a train to Graz. (1 left out by rules; 2 turns were shown in part;" in shown
    document = json.loads(run(monkeypatch, found, "--json").stdout)
    assert (document["user"], document["injection"]) == ("ann", "block")
    assert document["summaries"][0]["refused"] == {"one_time_code": 1}


@pytest.mark.parametrize("reason", [*NoSummaries, *WithoutSummary], ids=lambda reason: reason.value)
def test_every_reason_is_told(
    monkeypatch: pytest.MonkeyPatch, reason: NoSummaries | WithoutSummary
) -> None:
    found = Summaries(summaries=(), injection="", reason=reason, remaking=False)

    ran = run(monkeypatch, found)

    assert (ran.exit_code, ran.stdout) == (0, f"{verb.WHY_NONE[reason]}\n")
