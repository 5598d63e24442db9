"""What outcomes say, as statements of the projector with their parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from projections.columns import (
    ChangeGroup,
    Columns,
    array_text,
    close_columns,
    confirm_columns,
    distinct_versions,
    merge_columns,
    pin_columns,
    retract_columns,
    vouch_columns,
)
from projections.deletion_fold import deletions
from projections.flag_fold import decided_flags, raised_flags
from projections.opening import OpenedOutcome
from projections.rejection_fold import rejections
from projections.spending_fold import spent_by
from projections.suppression_fold import suppressions
from projections.turn_fold import waiting_turn
from schemas.records import Closing

Statement: TypeAlias = tuple[str, Columns]
"""The name of a query and its parameters, for each name a list with one element a row."""


def memory_updates(group: ChangeGroup) -> list[tuple[str, Columns, int]]:
    """Return the statements that change versions: name, parameters, and how many they name."""
    updates: list[tuple[str, Columns, int]] = []
    if group.closes:
        named = distinct_versions(group.closes)
        updates.append(("close_memories", close_columns(group.closes), named))
    if group.confirms:
        named = distinct_versions(group.confirms)
        updates.append(("confirm_memories", confirm_columns(group.confirms), named))
    if group.retracts:
        named = distinct_versions(group.retracts)
        updates.append(("retract_memories", retract_columns(group.retracts), named))
    if group.merges:
        named = distinct_versions(group.merges)
        updates.append(("merge_memories", merge_columns(group.merges), named))
    if group.vouches:
        named = distinct_versions(group.vouches)
        updates.append(("vouch_memories", vouch_columns(group.vouches), named))
    if group.pins:
        named = distinct_versions(group.pins)
        updates.append(("pin_memories", pin_columns(group.pins), named))
    return updates


def statements(counted: Sequence[OpenedOutcome]) -> Iterator[Statement]:
    """Yield what is to be carried out beside memories for outcomes that counted, in this order.

    Args:
        counted: the outcomes, each the first of its turn, in the order of each partition; the last
            one alone may delete.
    """
    found = (
        _defer(counted),
        _settle(counted),
        _link(counted),
        _raise(counted),
        _decide(counted),
        _reject(counted),
        _suppress(counted),
        _delete(counted),
    )
    yield from (statement for statement in found if statement is not None)


def spending_columns(counted: Sequence[OpenedOutcome]) -> Columns | None:
    """Return the parameters that add up what outcomes cost, or ``None`` where nobody was asked.

    The system's own subject has no tenant, and nobody is asked about it.
    """
    costs = [
        (opened, opened.tenant, *cost)
        for opened in counted
        if opened.tenant is not None and (cost := spent_by(opened.outcome)) is not None
    ]
    if not costs:
        return None
    return {
        "partitions": [opened.outcome.turn_partition for opened, _, _, _ in costs],
        "days": [on.day for _, _, on, _ in costs],
        "tenants": [tenant for _, tenant, _, _ in costs],
        "extractors": [on.extractor for _, _, on, _ in costs],
        "models": [on.model for _, _, on, _ in costs],
        "turns": [spent.turns for _, _, _, spent in costs],
        "calls": [spent.usage.calls for _, _, _, spent in costs],
        "input_tokens": [spent.usage.input_tokens for _, _, _, spent in costs],
        "output_tokens": [spent.usage.output_tokens for _, _, _, spent in costs],
        "cache_read_tokens": [spent.usage.cache_read_tokens for _, _, _, spent in costs],
        "cache_write_tokens": [spent.usage.cache_write_tokens for _, _, _, spent in costs],
    }


def _defer(counted: Sequence[OpenedOutcome]) -> Statement | None:
    waiting = [
        (opened, turn) for opened in counted if (turn := waiting_turn(opened.outcome)) is not None
    ]
    if not waiting:
        return None
    return "defer_turns", {
        "subjects": [opened.subject for opened, _ in waiting],
        "turn_ids": [turn.turn_id for _, turn in waiting],
        "partitions": [opened.outcome.turn_partition for opened, _ in waiting],
        "turn_offsets": [turn.turn_offset for _, turn in waiting],
        "conversation_ids": [turn.deferral.conversation_id for _, turn in waiting],
        "causes": [turn.deferral.cause.value for _, turn in waiting],
        "occurred_at": [turn.deferral.occurred_at for _, turn in waiting],
        "received_at": [turn.deferral.received_at for _, turn in waiting],
    }


def _settle(counted: Sequence[OpenedOutcome]) -> Statement | None:
    settled = [
        (opened, turn)
        for opened in counted
        for turn in opened.outcome.settled
        if turn.closing is not Closing.DEFERRED
    ]
    if not settled:
        return None
    return "settle_turns", {
        "subjects": [opened.subject for opened, _ in settled],
        "turn_ids": [turn.turn_id for _, turn in settled],
        "closings": [turn.closing.value for _, turn in settled],
        "outcome_offsets": [opened.offset for opened, _ in settled],
        "deferred": Closing.DEFERRED.value,
    }


def _link(counted: Sequence[OpenedOutcome]) -> Statement | None:
    """Tell which recalls turns were answered with."""
    linked = [opened for opened in counted if opened.outcome.recall_id is not None]
    if not linked:
        return None
    columns = {
        "subjects": [opened.subject for opened in linked],
        "turn_ids": [opened.outcome.turn_id for opened in linked],
        "recall_ids": [opened.outcome.recall_id for opened in linked],
    }
    return "link_recalls", columns


def _raise(counted: Sequence[OpenedOutcome]) -> Statement | None:
    raised = [(opened, flag) for opened in counted for flag in raised_flags(opened.outcome)]
    if not raised:
        return None
    return "raise_flags", {
        "subjects": [opened.subject for opened, _ in raised],
        "flag_ids": [flag.flag_id for _, flag in raised],
        "tenants": [opened.tenant for opened, _ in raised],
        "turn_ids": [flag.turn_id for _, flag in raised],
        "conversation_ids": [flag.conversation_id for _, flag in raised],
        "reasons": [array_text(reason.value for reason in flag.reasons) for _, flag in raised],
        "proposed": [flag.proposed.model_dump_json() for _, flag in raised],
        "said_at": [flag.said_at for _, flag in raised],
        "utc_offset_minutes": [flag.utc_offset_minutes for _, flag in raised],
        "flagged_at": [flag.flagged_at for _, flag in raised],
    }


def _decide(counted: Sequence[OpenedOutcome]) -> Statement | None:
    decided = [(opened, flag) for opened in counted for flag in decided_flags(opened.outcome)]
    if not decided:
        return None
    return "decide_flags", {
        "subjects": [opened.subject for opened, _ in decided],
        "flag_ids": [flag.decision.flag_id for _, flag in decided],
        "tenants": [opened.tenant for opened, _ in decided],
        "states": [flag.state.value for _, flag in decided],
        "actors": [flag.decision.actor for _, flag in decided],
        "reasons": [flag.decision.reason for _, flag in decided],
        "decided_at": [flag.decision.decided_at for _, flag in decided],
        "decided_by_turns": [flag.turn_id for _, flag in decided],
    }


def _reject(counted: Sequence[OpenedOutcome]) -> Statement | None:
    rejected = [(opened, one) for opened in counted for one in rejections(opened.outcome)]
    if not rejected:
        return None
    return "reject_operations", {
        "subjects": [opened.subject for opened, _ in rejected],
        "record_ids": [one.record_id for _, one in rejected],
        "places": [one.place for _, one in rejected],
        "turn_ids": [one.turn_id for _, one in rejected],
        "reasons": [array_text(reason.value for reason in one.reasons) for _, one in rejected],
        "rejected_at": [one.rejected_at for _, one in rejected],
    }


def _suppress(counted: Sequence[OpenedOutcome]) -> Statement | None:
    suppressed = [(opened, *one) for opened in counted for one in suppressions(opened.outcome)]
    if not suppressed:
        return None
    return "suppress_statements", {
        "subjects": [opened.subject for opened, _, _ in suppressed],
        "keys": [key for _, key, _ in suppressed],
        "suppressed_at": [moment for _, _, moment in suppressed],
    }


def _delete(counted: Sequence[OpenedOutcome]) -> Statement | None:
    gone = [(opened, version) for opened in counted for version in deletions(opened.outcome)]
    if not gone:
        return None
    return "delete_memories", {
        "subjects": [opened.subject for opened, _ in gone],
        "memory_ids": [memory_id for _, memory_id in gone],
    }
