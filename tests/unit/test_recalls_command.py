"""``memledger recalls`` shows what was served, or says why it cannot."""

from __future__ import annotations

import json
from dataclasses import replace
from uuid import UUID

import pytest
from click.testing import CliRunner, Result

from deploy.cli import main, recalls
from projections.recalls import BlockState, RecallAccount, ServedNote
from schemas.injection import InjectionForm
from tests.support.log_writer import NOON

RECALL, TURN = UUID(int=7), UUID(int=8)
LIVES, GONE = UUID(int=1), UUID(int=2)
ACCOUNT = RecallAccount(
    recall_id=RECALL,
    served_at=NOON,
    policy="gated",
    reason=None,
    generation="g1",
    budget_tokens=600,
    as_of=None,
    known_at=None,
    memories=(
        ServedNote(
            memory_id=LIVES,
            score=0.61,
            content="Lives in \x1b[31mPune",
            times_served=12,
            last_served_at=NOON,
        ),
    ),
    gone=(),
    block=BlockState.REPRODUCED,
    format=InjectionForm.TEXT,
    injection="<memledger-notes>\n- 2026-03-01: Lives in Pune\n</memledger-notes>",
    injection_headers={},
    turn_ids=(TURN,),
)


def run(
    monkeypatch: pytest.MonkeyPatch, account: RecallAccount, *options: str, of: str = str(RECALL)
) -> Result:
    """Run the verb where that is what is known of the recall."""

    async def asked(tenant: str, user: str, recall_id: str) -> RecallAccount:
        assert (tenant, user, recall_id) == ("local", "ann", str(RECALL))
        return account

    monkeypatch.setattr(recalls, "_asked", asked)
    return CliRunner().invoke(main, ["recalls", of, "--user", "ann", *options])


def test_it_tells_which_memories_were_served_and_the_very_notes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran = run(monkeypatch, ACCOUNT)

    assert ran.exit_code == 0
    for told in (
        "policy gated, generation g1, text",
        f"answered: turn {TURN}",
        "0.61",
        str(LIVES),
        "12 times",
        ACCOUNT.injection,
    ):
        assert str(told) in ran.stdout
    assert "\x1b" not in ran.stdout


@pytest.mark.parametrize("state", [BlockState.INCOMPLETE, BlockState.DIFFERS])
def test_where_the_notes_cannot_be_shown_it_says_why(
    monkeypatch: pytest.MonkeyPatch, state: BlockState
) -> None:
    gone = replace(ACCOUNT.memories[0], memory_id=GONE, content=None, score=None)
    account = replace(ACCOUNT, block=state, injection=None, memories=(gone,), gone=(GONE,))

    shown = run(monkeypatch, account).stdout

    assert recalls.NOT_SHOWN[state] in shown
    assert "(gone)" in shown


def test_a_message_is_shown_as_json_and_nothing_as_no_notes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    message = {"role": "system", "content": "notes", "clear_at": "next_user_message"}
    sent = replace(ACCOUNT, format=InjectionForm.ANTHROPIC, injection=message)
    assert '"clear_at"' in run(monkeypatch, sent).stdout

    nothing = replace(ACCOUNT, memories=(), injection="", reason="none_stored")
    shown = run(monkeypatch, nothing).stdout
    assert "no notes" in shown
    assert "none_stored" in shown


def test_json_tells_all_that_the_api_does(monkeypatch: pytest.MonkeyPatch) -> None:
    document = json.loads(run(monkeypatch, ACCOUNT, "--json").stdout)

    assert document["recall_id"] == str(RECALL)
    assert (document["block"], document["injection"]) == ("reproduced", ACCOUNT.injection)
    assert document["memories"][0]["score"] == 0.61


@pytest.mark.parametrize(
    "arguments",
    [["recalls", "x", "--user", "ann"], ["recalls", str(RECALL)], ["recalls", "--user", "ann"]],
    ids=["no id", "no user", "no recall"],
)
def test_what_names_no_recall_is_unusable_input(arguments: list[str]) -> None:
    ran = CliRunner().invoke(main, arguments)

    assert ran.exit_code == 2
    assert ran.stdout == ""
