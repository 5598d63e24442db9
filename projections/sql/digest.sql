-- Reading a read model whole, to compare it with a fold of the log.

-- name: take_snapshot
-- Let every statement of this transaction see the tables as they are now.
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;

-- name: select_positions
-- Return the first offset of a topic that is not applied, for every partition.
SELECT partition, next_offset FROM positions WHERE topic = %(topic)s ORDER BY partition;

-- name: select_subjects
-- Return every subject that has rows.
SELECT subject FROM memories
UNION SELECT subject FROM turns
UNION SELECT subject FROM waiting_turns
UNION SELECT subject FROM flags
UNION SELECT subject FROM rejections
UNION SELECT subject FROM suppressions
UNION SELECT subject FROM session_summaries;

-- name: select_memories
-- Return every column of some subjects' memories that the log decides: a vector that was made later
-- is not one of them. Words that were not made yet are NULL.
SELECT
    subject, memory_id, lineage_id, kind, content, words, statement_key, slot, about, importance,
    confidence, source, turn_id, conversation_id, quote, valid_from,
    valid_from_precision, valid_to, recorded_at,
    closed_recorded_at, retracted_at, last_confirmed_at, confirmations, expires_at,
    expiry_confirmed_at, provenance, merged_from, merged_into, merged_valid_from, merged_at,
    curated_at, pinned_at,
    CASE WHEN vector_made_at IS NULL THEN embedding_model END,
    CASE WHEN vector_made_at IS NULL THEN embedding END
FROM memories
WHERE subject = ANY (%(subjects)b::uuid[]);

-- name: select_turns
-- Return how some subjects' turns closed, by which outcomes; all NULL for one that is open.
SELECT subject, turn_id, closing, outcome_offset, settled_offset, conversation_id
FROM turns
WHERE subject = ANY (%(subjects)b::uuid[]);

-- name: select_waiting
-- Return every column of some subjects' turns that wait.
SELECT
    subject, turn_id, partition, turn_offset, conversation_id, cause, occurred_at, received_at
FROM waiting_turns
WHERE subject = ANY (%(subjects)b::uuid[]);

-- name: select_flags
-- Return every column of some subjects' flags.
SELECT
    subject, flag_id, tenant, state, turn_id, conversation_id, reasons, proposed, said_at,
    utc_offset_minutes, flagged_at, actor, reason, decided_at, decided_by_turn
FROM flags
WHERE subject = ANY (%(subjects)b::uuid[]);

-- name: select_summaries
-- Return every column of what the ends of some subjects' sessions came to.
SELECT
    subject, record_id, partition, conversation_id, turn_offset, summary, reason, turn_ids, refused,
    cut, shortened, more, first_said_at, last_said_at, extractor, model, prompt_hash, made_at
FROM session_summaries
WHERE subject = ANY (%(subjects)b::uuid[]);

-- name: select_forgotten
-- Return which of some sources of summaries are noted to be gone.
SELECT source_id FROM forgotten_sources WHERE source_id = ANY (%(source_ids)b::uuid[]);

-- name: select_rejections
-- Return every column of what was refused of some subjects.
SELECT subject, record_id, place, turn_id, reasons, rejected_at
FROM rejections
WHERE subject = ANY (%(subjects)b::uuid[]);

-- name: select_suppressions
-- Return which statements of some subjects are not stored again from words of before.
SELECT subject, key, suppressed_at
FROM suppressions
WHERE subject = ANY (%(subjects)b::uuid[]);

-- name: select_spending
-- Return what asking models cost, as it is added up in a partition.
SELECT
    tenant, day, extractor, model, closings, turns, calls, input_tokens, output_tokens,
    cache_read_tokens, cache_write_tokens
FROM spending
WHERE partition = %(partition)s;
