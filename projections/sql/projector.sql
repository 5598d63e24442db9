-- How a batch of the log becomes rows. Every list parameter is one column of the batch.

-- name: enter
-- Hold the fence of each partition, shared and taken in ascending order, until the transaction
-- ends; let it see and write the rows of these subjects, which come as an array's text; plan its
-- statements once for all batches, and by indexes only, as the ledger's questions are planned.
SELECT
    pg_advisory_xact_lock_shared(%(lock_class)s::integer, ordered.partition),
    set_config('memledger.subjects', %(subjects)s, true),
    set_config('plan_cache_mode', 'force_generic_plan', true),
    set_config('enable_seqscan', 'off', true),
    set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true)
FROM (
    SELECT partition FROM unnest(%(partitions)b::integer[]) AS listed (partition) ORDER BY partition
) AS ordered;

-- name: start_positions
-- Begin partitions that were never read at their first offset.
INSERT INTO positions (topic, partition, next_offset)
SELECT topic, partition, 0
FROM unnest(%(topics)b::text[], %(partitions)b::integer[]) AS started (topic, partition)
ON CONFLICT (topic, partition) DO NOTHING;

-- name: select_positions
-- Return the first offset that is not applied, of every partition of some topics.
SELECT topic, partition, next_offset FROM positions
WHERE topic = ANY (%(topics)b::text[]) AND partition = ANY (%(partitions)b::integer[]);

-- name: advance_positions
-- Advance the positions of a batch; one that another process has moved is left out of the count.
UPDATE positions
SET next_offset = moved.after
FROM unnest(
    %(topics)b::text[], %(partitions)b::integer[], %(before)b::bigint[], %(after)b::bigint[]
) AS moved (topic, partition, before, after)
WHERE positions.topic = moved.topic
    AND positions.partition = moved.partition
    AND positions.next_offset = moved.before;

-- name: close_turns
-- Close turns that no outcome has closed yet, read or not, and return which ones they are. An
-- outcome does not count after one of the same turn that was set aside.
WITH closed AS (
    INSERT INTO turns (subject, turn_id, partition, turn_offset, closing, outcome_offset)
    SELECT
        listed.subject, listed.turn_id, listed.partition, listed.turn_offset, listed.closing,
        listed.outcome_offset
    FROM unnest(
        %(subjects)b::uuid[], %(turn_ids)b::uuid[], %(outcome_ids)b::uuid[],
        %(partitions)b::integer[], %(turn_offsets)b::bigint[], %(closings)b::text[],
        %(outcome_offsets)b::bigint[]
    ) AS listed (
        subject, turn_id, outcome_id, partition, turn_offset, closing, outcome_offset
    )
    WHERE NOT EXISTS (
        SELECT FROM refused_outcomes AS refused
        WHERE refused.subject = listed.subject
            AND refused.outcome_id = listed.outcome_id
            AND refused.partition = listed.partition
            AND refused.outcome_offset < listed.outcome_offset
    )
    ON CONFLICT (subject, turn_id) DO UPDATE
    SET closing = excluded.closing, outcome_offset = excluded.outcome_offset
    WHERE turns.outcome_offset IS NULL
    RETURNING subject, turn_id, partition, turn_offset
),
settled AS (
    DELETE FROM open_turns USING closed
    WHERE open_turns.partition = closed.partition AND open_turns.turn_offset = closed.turn_offset
)
SELECT subject, turn_id FROM closed;

-- name: refuse_outcomes
-- Close as dead-lettered the turns of outcomes that were set aside: those that are open, and, by the
-- note that is left, those that are yet to be read.
WITH refused AS (
    SELECT * FROM unnest(
        %(subjects)b::uuid[], %(partitions)b::integer[], %(outcome_ids)b::uuid[],
        %(outcome_offsets)b::bigint[]
    ) AS listed (subject, partition, outcome_id, outcome_offset)
),
noted AS (
    INSERT INTO refused_outcomes (subject, partition, outcome_id, outcome_offset)
    SELECT * FROM refused
    ON CONFLICT (subject, outcome_id, partition) DO NOTHING
),
closed AS (
    UPDATE turns
    SET closing = %(closing)s, outcome_offset = refused.outcome_offset
    FROM refused JOIN open_turns
        ON open_turns.partition = refused.partition AND open_turns.outcome_id = refused.outcome_id
    WHERE turns.subject = refused.subject
        AND turns.partition = open_turns.partition
        AND turns.turn_offset = open_turns.turn_offset
        AND turns.outcome_offset IS NULL
    RETURNING turns.partition, turns.turn_offset
)
DELETE FROM open_turns USING closed
WHERE open_turns.partition = closed.partition AND open_turns.turn_offset = closed.turn_offset;

-- name: erase_outcomes
-- Close as erased the turns of outcomes that nobody can read any more: those that are open, and,
-- by the note that is left, those that are yet to be read. A subject is known where the outcome
-- was its own; where the system speaks for it, the turn's row goes with the subject's others.
WITH erased AS (
    SELECT * FROM unnest(
        %(subjects)b::uuid[], %(outcome_ids)b::uuid[], %(outcome_offsets)b::bigint[]
    ) AS listed (subject, outcome_id, outcome_offset)
),
noted AS (
    INSERT INTO erased_outcomes (outcome_id, outcome_offset)
    SELECT outcome_id, min(outcome_offset) FROM erased GROUP BY outcome_id
    ON CONFLICT (outcome_id) DO NOTHING
),
settled AS (
    DELETE FROM open_turns USING erased
    WHERE open_turns.outcome_id = erased.outcome_id
    RETURNING erased.subject, open_turns.partition, open_turns.turn_offset, erased.outcome_offset
)
UPDATE turns
SET closing = %(closing)s, outcome_offset = settled.outcome_offset
FROM settled
WHERE turns.subject = settled.subject
    AND turns.partition = settled.partition
    AND turns.turn_offset = settled.turn_offset
    AND turns.outcome_offset IS NULL;

-- name: read_turns
-- Open the turns that are neither known nor closed. Of what was noted of a turn's outcomes before it
-- was read, that of the lowest offset counts.
WITH listed AS (
    SELECT * FROM unnest(
        %(subjects)b::uuid[], %(turn_ids)b::uuid[], %(partitions)b::integer[],
        %(turn_offsets)b::bigint[], %(outcome_ids)b::uuid[]
    ) AS listed (subject, turn_id, partition, turn_offset, outcome_id)
),
fresh AS (
    INSERT INTO turns (subject, turn_id, partition, turn_offset, closing, outcome_offset)
    SELECT
        listed.subject, listed.turn_id, listed.partition, listed.turn_offset,
        CASE
            WHEN refused.outcome_offset
                < coalesce(erased.outcome_offset, refused.outcome_offset + 1) THEN %(refused)s
            WHEN erased.outcome_id IS NOT NULL THEN %(erased)s
        END,
        least(erased.outcome_offset, refused.outcome_offset)
    FROM listed
    LEFT JOIN erased_outcomes AS erased ON erased.outcome_id = listed.outcome_id
    LEFT JOIN refused_outcomes AS refused
        ON refused.subject = listed.subject
        AND refused.outcome_id = listed.outcome_id
        AND refused.partition = listed.partition
    ON CONFLICT (subject, turn_id) DO NOTHING
    RETURNING partition, turn_offset, closing
)
INSERT INTO open_turns (partition, turn_offset, outcome_id)
SELECT listed.partition, listed.turn_offset, listed.outcome_id
FROM listed JOIN fresh
    ON fresh.partition = listed.partition AND fresh.turn_offset = listed.turn_offset
WHERE fresh.closing IS NULL;

-- name: bury_turns
-- Close as erased the turns whose records were tombstoned while they were open. An outcome that
-- comes all the same still counts, so that the order in which the topics are read changes nothing.
WITH buried AS (
    SELECT * FROM unnest(%(subjects)b::uuid[], %(outcome_ids)b::uuid[])
        AS listed (subject, outcome_id)
),
settled AS (
    DELETE FROM open_turns USING buried
    WHERE open_turns.outcome_id = buried.outcome_id
    RETURNING buried.subject, open_turns.partition, open_turns.turn_offset
)
UPDATE turns
SET closing = %(closing)s
FROM settled
WHERE turns.subject = settled.subject
    AND turns.partition = settled.partition
    AND turns.turn_offset = settled.turn_offset
    AND turns.closing IS NULL;

-- name: insert_memories
-- Insert versions; one that is there already stays as it is.
INSERT INTO memories (
    subject, memory_id, lineage_id, kind, content, statement_key, slot, about, importance,
    confidence, source, turn_id, conversation_id, quote, valid_from, valid_to, recorded_at,
    last_confirmed_at, expires_at, embedding_model, embedding
)
SELECT * FROM unnest(
    %(subject)b::uuid[], %(memory_id)b::uuid[], %(lineage_id)b::uuid[], %(kind)b::text[],
    %(content)b::text[], %(statement_key)b::bytea[], %(slot)b::text[], %(about)b::text[],
    %(importance)b::smallint[], %(confidence)b::text[], %(source)b::text[], %(turn_id)b::uuid[],
    %(conversation_id)b::text[], %(quote)b::text[], %(valid_from)b::timestamptz[],
    %(valid_to)b::timestamptz[], %(recorded_at)b::timestamptz[],
    %(last_confirmed_at)b::timestamptz[], %(expires_at)b::timestamptz[],
    %(embedding_model)b::text[], %(embedding)b::halfvec[]
)
ON CONFLICT (subject, memory_id) DO NOTHING;

-- name: close_memories
-- Close versions; the last word on each counts.
UPDATE memories
SET valid_to = latest.valid_to, closed_recorded_at = latest.closed_recorded_at
FROM (
    SELECT DISTINCT ON (subject, memory_id) subject, memory_id, valid_to, closed_recorded_at
    FROM unnest(
        %(subjects)b::uuid[], %(memory_ids)b::uuid[], %(valid_to)b::timestamptz[],
        %(closed_recorded_at)b::timestamptz[]
    ) WITH ORDINALITY AS listed (subject, memory_id, valid_to, closed_recorded_at, place)
    ORDER BY subject, memory_id, place DESC
) AS latest
WHERE memories.subject = latest.subject AND memories.memory_id = latest.memory_id;

-- name: confirm_memories
-- Count confirmations; the greatest time counts.
UPDATE memories
SET
    last_confirmed_at = greatest(memories.last_confirmed_at, counted.confirmed_at),
    confirmations = memories.confirmations + counted.times
FROM (
    SELECT subject, memory_id, max(confirmed_at) AS confirmed_at, count(*) AS times
    FROM unnest(%(subjects)b::uuid[], %(memory_ids)b::uuid[], %(confirmed_at)b::timestamptz[])
        AS listed (subject, memory_id, confirmed_at)
    GROUP BY subject, memory_id
) AS counted
WHERE memories.subject = counted.subject AND memories.memory_id = counted.memory_id;

-- name: retract_memories
-- Withdraw versions as wrong; the first time that was learnt counts.
UPDATE memories
SET retracted_at = coalesce(memories.retracted_at, first.retracted_at)
FROM (
    SELECT DISTINCT ON (subject, memory_id) subject, memory_id, retracted_at
    FROM unnest(%(subjects)b::uuid[], %(memory_ids)b::uuid[], %(retracted_at)b::timestamptz[])
        WITH ORDINALITY AS listed (subject, memory_id, retracted_at, place)
    ORDER BY subject, memory_id, place
) AS first
WHERE memories.subject = first.subject AND memories.memory_id = first.memory_id;

-- name: finish
-- Raise the floors of proposals, which never fall, and tell who listens, once the transaction has
-- committed, how far the partitions have come.
WITH raised AS (
    INSERT INTO partitions (partition, proposals_floor)
    SELECT partition, max(floor)
    FROM unnest(%(partitions)b::integer[], %(floors)b::bigint[]) AS listed (partition, floor)
    GROUP BY partition
    ON CONFLICT (partition) DO UPDATE
    SET proposals_floor = greatest(partitions.proposals_floor, excluded.proposals_floor)
)
SELECT pg_notify('memledger_applied', payload) FROM unnest(%(payloads)b::text[]) AS told (payload);

-- name: count_open_turns
-- Count the open turns of each partition that has any.
SELECT partition, count(*) FROM open_turns WHERE partition = ANY (%(partitions)b::integer[])
GROUP BY partition;
