"""A fact, a decision or an end is accepted whole, or the field and the remedy are named."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from producers.commands_input import (
    REASON_CHARACTERS_MAX,
    read_conversation_end,
    read_decision,
)
from producers.facts_input import read_fact
from schemas.errors import InputTooLarge, InvalidInput
from schemas.json_text import decode_text
from schemas.memory import CONTENT_CHARACTERS_MAX, MemoryKind, Provenance
from schemas.slots import Slot
from tests.unit.producers.fakes import NOW

PROVENANCE = {"system": "orders", "type": "order_late"}
FACT: dict[str, Any] = {
    "user_id": "ann",
    "content": "Order 7 arrived two days late.",
    "kind": "episodic",
    "slot": "event",
    "source": "system",
    "provenance": PROVENANCE,
}
DECISION = {"decision": "approve", "reason": "agreed by phone"}
END = {"user_id": "ann", "conversation_id": "c"}


def test_a_fact_has_what_was_sent_and_defaults_for_the_rest() -> None:
    fact = read_fact(FACT, now=NOW)
    assert (fact.user_id, fact.content) == ("ann", "Order 7 arrived two days late.")
    assert (fact.kind, fact.slot) == (MemoryKind.EPISODIC, Slot.EVENT)
    assert fact.provenance == Provenance(system="orders", type="order_late")
    assert (fact.about, fact.importance) == ("user", 3)
    assert (fact.valid_from, fact.expires_at, fact.client_id) == (None, None, None)


def test_everything_that_a_fact_may_say_is_kept() -> None:
    fact = read_fact(
        {
            **FACT,
            "about": "sister",
            "importance": 5,
            "provenance": {**PROVENANCE, "reference": "7"},
            "valid_from": "2026-02-01T10:00:00+05:30",
            "expires_at": "2026-04-01T00:00:00+01:00",
            "id": "message-1",
        },
        now=NOW,
    )
    assert (fact.about, fact.importance, fact.client_id) == ("sister", 5, "message-1")
    assert fact.provenance.reference == "7"
    assert fact.valid_from == datetime(2026, 2, 1, 4, 30, tzinfo=UTC)
    assert fact.expires_at == datetime(2026, 3, 31, 23, tzinfo=UTC)


@pytest.mark.parametrize(
    "name", ["orders", "shop.orders:v2", "order_late", "2nd-line", "a" * 64, "заказы"]
)
def test_a_short_name_of_any_script_is_a_system_or_a_type(name: str) -> None:
    fact = read_fact({**FACT, "provenance": {"system": name, "type": name}}, now=NOW)
    assert fact.provenance == Provenance(system=name, type=name)


def test_texts_are_brought_into_normal_form_and_otherwise_kept() -> None:
    fact = read_fact({**FACT, "user_id": "zoe\u0308", "content": " cafe\u0301\n"}, now=NOW)
    assert (fact.user_id, fact.content) == ("zo\u00eb", " caf\u00e9\n")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"content": " \u200b"}, "content: is empty or blank"),
        ({"content": "a\x00"}, "content: holds a NUL character at position 1"),
        ({"content": "a\ud800"}, "content: holds a lone surrogate (half a character) at position"),
        ({"content": 7}, "content: is not of the type it should be; send a JSON string"),
        ({"user_id": ""}, "user_id: is empty or blank"),
        ({"kind": "fact"}, "kind: is none of its values; send 'semantic', 'episodic' or 'proc"),
        ({"kind": None}, "kind: is none of its values"),
        ({"slot": "Residence"}, "slot: is none of its values; send 'name', 'residence'"),
        ({"slot": ["name"]}, "slot: is none of its values"),
        ({"about": "a\nb"}, "about: holds the control character U+000A"),
        ({"about": None}, "about: is not of the type it should be; send a JSON string, in quotes"),
        ({"importance": 0}, "importance: is too small; send 1 or more"),
        ({"importance": 6}, "importance: is too large; send 5 or less"),
        ({"importance": "3"}, "importance: is not of the type it should be; send a whole number"),
        ({"importance": 2.5}, "importance: is not of the type it should be; send a whole number"),
        ({"importance": True}, "importance: is not of the type it should be"),
        ({"source": "curation"}, "source: is not taken here; send 'system'"),
        ({"source": "user"}, "source: is not taken here; send 'system'"),
        ({"source": "assistant"}, "source: is not taken here; send 'system'"),
        ({"source": "shop"}, "source: is none of its values; send 'system'"),
        ({"source": "a\ud800"}, "source: is none of its values; send 'system'"),
        ({"tenant": "acme"}, "tenant: unknown field 'tenant'; leave it out; known are user_id,"),
        ({"\ud800": 1}, "\\ud800: unknown field"),
        ({"provenance": None}, "provenance: is missing; send the system and the type of the fact"),
        ({"pinned": True}, "pinned: is a person's alone; leave it out"),
        ({"actor": "eve"}, "actor: is a person's alone; leave it out"),
        ({"provenance": []}, "provenance: is not of the type it should be; send an object with"),
        ({"provenance": {"system": "s"}}, "provenance.type: is missing; send it"),
        (
            {"provenance": {"system": "s", "kind": "t"}},
            "provenance.kind: unknown field 'provenance.kind', and provenance.type missing; rename",
        ),
        ({"provenance": {**PROVENANCE, "\ud800": 1}}, "provenance.\\ud800: unknown field"),
        ({"provenance": {**PROVENANCE, "type": " "}}, "provenance.type: is empty or blank"),
        ({"provenance": {**PROVENANCE, "type": "my word is x"}}, "provenance.type: is no short n"),
        ({"provenance": {**PROVENANCE, "system": "a" * 65}}, "provenance.system: is no short name"),
        ({"provenance": {**PROVENANCE, "system": "-a"}}, "provenance.system: is no short name"),
        ({"provenance": {**PROVENANCE, "type": 1}}, "provenance.type: is not of the type it"),
        ({"provenance": {**PROVENANCE, "type": "\ud800"}}, "provenance.type: holds a lone surr"),
        ({"provenance": {**PROVENANCE, "reference": ""}}, "provenance.reference: is empty or bl"),
        ({"valid_from": "2026-02-01"}, "valid_from: names no time zone and no time of day"),
        ({"valid_from": 1700000000}, "valid_from: is not of the type it should be; send a time"),
        ({"valid_from": "2026-03-01T12:06:00Z"}, "valid_from: lies more than 5 minutes in the fu"),
        ({"valid_from": "0001-01-01T00:00:00+14:00"}, "valid_from: lies before 1970"),
        ({"expires_at": "2026-03-01T12:00:00Z"}, "expires_at: lies before the fact becomes true"),
        ({"expires_at": "2026-04-01T12:00:00"}, "expires_at: names no time zone"),
        ({"expires_at": "9999-12-31T23:59:59-14:00"}, "expires_at: lies more than 100 years in"),
        ({"expires_at": "0001-01-01T00:00:00+14:00"}, "expires_at: lies before the fact becomes"),
        ({"id": ""}, "id: is empty or blank"),
        ({"id": 7}, "id: is not of the type it should be"),
    ],
)
def test_a_fact_that_is_refused_names_the_field_and_the_remedy(
    changes: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_fact({**FACT, **changes}, now=NOW)
    assert str(refused.value).startswith(message), str(refused.value)
    assert refused.value.remedy


@pytest.mark.parametrize("name", sorted(FACT))
def test_a_fact_without_a_field_that_it_needs_is_refused(name: str) -> None:
    body = {key: value for key, value in FACT.items() if key != name}
    with pytest.raises(InvalidInput, match=f"{name}: is missing; send"):
        read_fact(body, now=NOW)


def test_a_fact_may_have_ceased_already_where_it_began_before() -> None:
    body = {**FACT, "valid_from": "2026-01-01T00:00:00Z", "expires_at": "2026-01-02T00:00:00Z"}
    fact = read_fact(body, now=NOW)
    assert fact.expires_at is not None
    assert fact.expires_at < NOW


def test_a_persons_curation_is_told_where_it_belongs() -> None:
    with pytest.raises(InvalidInput, match="POST /v1/turns, which keeps the words as evidence"):
        read_fact({**FACT, "source": "user"}, now=NOW)
    with pytest.raises(InvalidInput, match="a person states is sent as 'person'"):
        read_fact({**FACT, "source": "curation"}, now=NOW)


@pytest.mark.parametrize(
    ("field", "characters"),
    [("content", CONTENT_CHARACTERS_MAX), ("about", 512), ("id", 512), ("user_id", 512)],
)
def test_a_field_of_a_fact_has_its_limit(field: str, characters: int) -> None:
    read_fact({**FACT, field: "x" * characters}, now=NOW)
    with pytest.raises(InputTooLarge, match=f"{field}: has {characters + 1} characters"):
        read_fact({**FACT, field: "x" * (characters + 1)}, now=NOW)


@pytest.mark.parametrize("body", [None, [], "text", 1, float("nan")])
def test_what_is_no_object_is_refused(body: object) -> None:
    for read in (lambda it: read_fact(it, now=NOW), read_conversation_end):
        with pytest.raises(InvalidInput, match="body: is not a JSON object"):
            read(body)
    with pytest.raises(InvalidInput, match="body: is not a JSON object"):
        read_decision(body, caller="k")


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ('{"user_id": "a", "user_id": "b"}', "user_id"),
        ('{"provenance": {"system": "a", "system": "b"}}', "provenance.system"),
    ],
)
def test_a_name_that_is_there_twice_is_refused(sent: str, field: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{field}: is there more than once"):
        read_fact(decode_text(sent), now=NOW)


def test_a_decision_is_the_callers_where_it_names_nobody() -> None:
    assert read_decision(DECISION, caller="api-key 1").actor == "api-key 1"
    decision = read_decision({**DECISION, "actor": "ops@shop"}, caller="api-key 1")
    assert (decision.actor, decision.approved) == ("ops@shop", True)
    assert not read_decision({**DECISION, "decision": "refuse"}, caller="k").approved


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"decision": "approved"}, "decision: is none of its values; send 'approve' or 'refuse'"),
        ({"decision": True}, "decision: is none of its values"),
        ({"reason": ""}, "reason: is empty or blank"),
        ({"reason": None}, "reason: is not of the type it should be"),
        ({"actor": " "}, "actor: is empty or blank"),
        ({"user_id": "u"}, "user_id: unknown field"),
    ],
)
def test_a_decision_that_is_refused_names_the_field(
    changes: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_decision({**DECISION, **changes}, caller="k")
    assert str(refused.value).startswith(message), str(refused.value)


def test_a_decision_needs_its_reason() -> None:
    with pytest.raises(InvalidInput, match="reason: is missing; send it"):
        read_decision({"decision": "approve"}, caller="k")
    with pytest.raises(InputTooLarge):
        read_decision({**DECISION, "reason": "x" * (REASON_CHARACTERS_MAX + 1)}, caller="k")


@pytest.mark.parametrize("field", ["user_id", "conversation_id"])
def test_an_end_needs_the_user_and_the_conversation(field: str) -> None:
    assert read_conversation_end(END).conversation_id == "c"
    with pytest.raises(InvalidInput, match=f"{field}: is missing"):
        read_conversation_end({key: value for key, value in END.items() if key != field})
    with pytest.raises(InvalidInput, match=f"{field}: is empty or blank"):
        read_conversation_end({**END, field: " "})


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from([*FACT, "about", "importance", "id", "x"]), JSON_VALUES))
def test_any_value_anywhere_is_a_fact_or_a_refusal_with_a_remedy(
    changes: dict[str, object],
) -> None:
    try:
        fact = read_fact({**FACT, **changes}, now=NOW)
    except InvalidInput as error:
        refused = error
    else:
        assert 1 <= fact.importance <= 5
        assert fact.content.strip()
        return
    assert refused.field
    assert refused.remedy
