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
    INSERT INTO turns (
        subject, turn_id, partition, turn_offset, closing, outcome_offset, conversation_id
    )
    SELECT
        listed.subject, listed.turn_id, listed.partition, listed.turn_offset, listed.closing,
        listed.outcome_offset, listed.conversation_id
    FROM unnest(
        %(subjects)b::uuid[], %(turn_ids)b::uuid[], %(outcome_ids)b::uuid[],
        %(partitions)b::integer[], %(turn_offsets)b::bigint[], %(closings)b::text[],
        %(outcome_offsets)b::bigint[], %(conversation_ids)b::text[]
    ) AS listed (
        subject, turn_id, outcome_id, partition, turn_offset, closing, outcome_offset,
        conversation_id
    )
    WHERE NOT EXISTS (
        SELECT FROM refused_outcomes AS refused
        WHERE refused.subject = listed.subject
            AND refused.outcome_id = listed.outcome_id
            AND refused.partition = listed.partition
            AND refused.outcome_offset < listed.outcome_offset
    )
    ON CONFLICT (subject, turn_id) DO UPDATE
    SET
        closing = excluded.closing,
        outcome_offset = excluded.outcome_offset,
        conversation_id = excluded.conversation_id
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
    words,
    subject, memory_id, lineage_id, kind, content, statement_key, slot, about, importance,
    confidence, source, turn_id, conversation_id, quote, valid_from,
    valid_from_precision, valid_to, recorded_at,
    last_confirmed_at, expires_at, provenance, merged_from, curated_at, embedding_model, embedding
)
SELECT
    words,
    subject, memory_id, lineage_id, kind, content, statement_key, slot, about, importance,
    confidence, source, turn_id, conversation_id, quote, valid_from,
    valid_from_precision, valid_to, recorded_at,
    last_confirmed_at, expires_at, provenance::jsonb, merged_from::uuid[], curated_at,
    embedding_model, embedding
FROM unnest(
    %(words)b::bytea[],
    %(subject)b::uuid[], %(memory_id)b::uuid[], %(lineage_id)b::uuid[], %(kind)b::text[],
    %(content)b::text[], %(statement_key)b::bytea[], %(slot)b::text[], %(about)b::text[],
    %(importance)b::smallint[], %(confidence)b::text[], %(source)b::text[], %(turn_id)b::uuid[],
    %(conversation_id)b::text[], %(quote)b::text[], %(valid_from)b::timestamptz[],
    %(valid_from_precision)b::text[],
    %(valid_to)b::timestamptz[], %(recorded_at)b::timestamptz[],
    %(last_confirmed_at)b::timestamptz[], %(expires_at)b::timestamptz[],
    %(provenance)b::text[], %(merged_from)b::text[], %(curated_at)b::timestamptz[],
    %(embedding_model)b::text[], %(embedding)b::halfvec[]
) AS listed (
    words,
    subject, memory_id, lineage_id, kind, content, statement_key, slot, about, importance,
    confidence, source, turn_id, conversation_id, quote, valid_from,
    valid_from_precision, valid_to, recorded_at,
    last_confirmed_at, expires_at, provenance, merged_from, curated_at, embedding_model, embedding
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
-- Count confirmations; the greatest time counts, for the expiry the greatest of those that set one,
-- and of equal times the last.
UPDATE memories
SET
    last_confirmed_at = greatest(memories.last_confirmed_at, counted.confirmed_at),
    confirmations = memories.confirmations + counted.times,
    expires_at = CASE
        WHEN counted.renewed_at >= coalesce(memories.expiry_confirmed_at, '-infinity')
            THEN counted.expires_at
        ELSE memories.expires_at
    END,
    expiry_confirmed_at = greatest(memories.expiry_confirmed_at, counted.renewed_at)
FROM (
    SELECT
        subject, memory_id, max(confirmed_at) AS confirmed_at, count(*) AS times,
        max(confirmed_at) FILTER (WHERE renews) AS renewed_at,
        (array_agg(expires_at ORDER BY confirmed_at DESC, place DESC) FILTER (WHERE renews))[1]
            AS expires_at
    FROM unnest(
        %(subjects)b::uuid[], %(memory_ids)b::uuid[], %(confirmed_at)b::timestamptz[],
        %(renews)b::boolean[], %(expires_at)b::timestamptz[]
    ) WITH ORDINALITY AS listed (subject, memory_id, confirmed_at, renews, expires_at, place)
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

-- name: merge_memories
-- Let other versions stand for some: the last word on which one counts, the first time that any did,
-- and the earliest time since when any of them is true.
UPDATE memories
SET
    merged_into = latest.merged_into,
    merged_valid_from = least(memories.merged_valid_from, latest.earliest_valid_from),
    merged_at = coalesce(memories.merged_at, latest.first_merged_at)
FROM (
    SELECT DISTINCT ON (subject, memory_id)
        subject, memory_id, merged_into,
        min(merged_valid_from) OVER (PARTITION BY subject, memory_id) AS earliest_valid_from,
        first_value(merged_at) OVER (PARTITION BY subject, memory_id ORDER BY place)
            AS first_merged_at
    FROM unnest(
        %(subjects)b::uuid[], %(memory_ids)b::uuid[], %(merged_into)b::uuid[],
        %(merged_valid_from)b::timestamptz[], %(merged_at)b::timestamptz[]
    ) WITH ORDINALITY AS listed (
        subject, memory_id, merged_into, merged_valid_from, merged_at, place
    )
    ORDER BY subject, memory_id, place DESC
) AS latest
WHERE memories.subject = latest.subject AND memories.memory_id = latest.memory_id;

-- name: vouch_memories
-- Let versions stand as a person's own statements; the latest time counts.
UPDATE memories
SET curated_at = greatest(memories.curated_at, latest.curated_at)
FROM (
    SELECT subject, memory_id, max(curated_at) AS curated_at
    FROM unnest(%(subjects)b::uuid[], %(memory_ids)b::uuid[], %(curated_at)b::timestamptz[])
        AS listed (subject, memory_id, curated_at)
    GROUP BY subject, memory_id
) AS latest
WHERE memories.subject = latest.subject AND memories.memory_id = latest.memory_id;

-- name: pin_memories
-- Pin versions, or pin them no longer; the last word on each counts.
UPDATE memories
SET pinned_at = latest.pinned_at
FROM (
    SELECT DISTINCT ON (subject, memory_id) subject, memory_id, pinned_at
    FROM unnest(%(subjects)b::uuid[], %(memory_ids)b::uuid[], %(pinned_at)b::timestamptz[])
        WITH ORDINALITY AS listed (subject, memory_id, pinned_at, place)
    ORDER BY subject, memory_id, place DESC
) AS latest
WHERE memories.subject = latest.subject AND memories.memory_id = latest.memory_id;

-- name: delete_memories
-- Delete versions with all that is derived of them: the versions that stand or stood for any of them,
-- and what was left to a person about them or in their words. A table that holds something of a
-- version has a foreign key to it that cascades, or is emptied here.
WITH named AS (
    SELECT DISTINCT subject, memory_id
    FROM unnest(%(subjects)b::uuid[], %(memory_ids)b::uuid[]) AS listed (subject, memory_id)
),
listed AS (
    SELECT subject, memory_id FROM named
    UNION
    SELECT memories.subject, memories.memory_id
    FROM (SELECT subject, array_agg(memory_id) AS versions FROM named GROUP BY subject) AS sources
    JOIN memories ON memories.subject = sources.subject
    WHERE memories.merged_from && sources.versions
),
gone AS (
    DELETE FROM memories USING listed
    WHERE memories.subject = listed.subject AND memories.memory_id = listed.memory_id
    RETURNING memories.subject, memories.content
)
DELETE FROM flags USING (SELECT DISTINCT subject FROM named) AS theirs
WHERE flags.subject = theirs.subject
    AND (
        EXISTS (
            SELECT FROM listed
            WHERE listed.subject = flags.subject
                AND (
                    flags.proposed ->> 'reference' = listed.memory_id::text
                    OR flags.proposed ->> 'against' = listed.memory_id::text
                    OR flags.proposed -> 'merges' @> to_jsonb(listed.memory_id::text)
                )
        )
        OR EXISTS (
            SELECT FROM gone
            WHERE gone.subject = flags.subject AND gone.content = flags.proposed ->> 'content'
        )
    );

-- name: suppress_statements
-- Let statements not be stored again from words of before; the latest decision counts.
INSERT INTO suppressions (subject, key, suppressed_at)
SELECT subject, key, max(suppressed_at)
FROM unnest(%(subjects)b::uuid[], %(keys)b::bytea[], %(suppressed_at)b::timestamptz[])
    AS listed (subject, key, suppressed_at)
GROUP BY subject, key
ON CONFLICT (subject, key) DO UPDATE
SET suppressed_at = greatest(suppressions.suppressed_at, excluded.suppressed_at);

-- name: defer_turns
-- Let turns wait, of outcomes that counted.
INSERT INTO waiting_turns (
    subject, turn_id, partition, turn_offset, conversation_id, cause, occurred_at, received_at
)
SELECT * FROM unnest(
    %(subjects)b::uuid[], %(turn_ids)b::uuid[], %(partitions)b::integer[],
    %(turn_offsets)b::bigint[], %(conversation_ids)b::text[], %(causes)b::text[],
    %(occurred_at)b::timestamptz[], %(received_at)b::timestamptz[]
)
ON CONFLICT (subject, turn_id) DO NOTHING;

-- name: settle_turns
-- Close turns that wait, each by the first outcome that settles it and stands behind the one that
-- let it wait. A turn that closed in any other way is left as it is.
WITH listed AS (
    SELECT DISTINCT ON (turns.subject, turns.turn_id)
        turns.subject, turns.turn_id, listed.closing, listed.outcome_offset
    FROM unnest(
        %(subjects)b::uuid[], %(turn_ids)b::uuid[], %(closings)b::text[],
        %(outcome_offsets)b::bigint[]
    ) WITH ORDINALITY AS listed (subject, turn_id, closing, outcome_offset, place)
    JOIN turns ON turns.subject = listed.subject AND turns.turn_id = listed.turn_id
    WHERE turns.closing = %(deferred)s AND turns.outcome_offset < listed.outcome_offset
    ORDER BY turns.subject, turns.turn_id, listed.place
),
settled AS (
    UPDATE turns
    SET closing = listed.closing, settled_offset = listed.outcome_offset
    FROM listed
    WHERE turns.subject = listed.subject AND turns.turn_id = listed.turn_id
)
DELETE FROM waiting_turns USING listed
WHERE waiting_turns.subject = listed.subject AND waiting_turns.turn_id = listed.turn_id;

-- name: link_recalls
-- Tell which recall each turn was answered with, of outcomes that counted.
UPDATE turns
SET recall_id = listed.recall_id
FROM unnest(%(subjects)b::uuid[], %(turn_ids)b::uuid[], %(recall_ids)b::uuid[])
    AS listed (subject, turn_id, recall_id)
WHERE turns.subject = listed.subject AND turns.turn_id = listed.turn_id;

-- name: raise_flags
-- Leave operations to a person; one that is known already stays as it is.
INSERT INTO flags (
    subject, flag_id, tenant, turn_id, conversation_id, reasons, proposed, said_at,
    utc_offset_minutes, flagged_at
)
SELECT DISTINCT ON (subject, flag_id)
    subject, flag_id, tenant, turn_id, conversation_id, reasons::text[], proposed::jsonb, said_at,
    utc_offset_minutes, flagged_at
FROM unnest(
    %(subjects)b::uuid[], %(flag_ids)b::uuid[], %(tenants)b::text[], %(turn_ids)b::uuid[],
    %(conversation_ids)b::text[], %(reasons)b::text[], %(proposed)b::text[],
    %(said_at)b::timestamptz[], %(utc_offset_minutes)b::integer[], %(flagged_at)b::timestamptz[]
) WITH ORDINALITY AS listed (
    subject, flag_id, tenant, turn_id, conversation_id, reasons, proposed, said_at,
    utc_offset_minutes, flagged_at, place
)
ORDER BY subject, flag_id, place
ON CONFLICT (subject, flag_id) DO UPDATE
SET
    turn_id = excluded.turn_id,
    conversation_id = excluded.conversation_id,
    reasons = excluded.reasons,
    proposed = excluded.proposed,
    said_at = excluded.said_at,
    utc_offset_minutes = excluded.utc_offset_minutes,
    flagged_at = excluded.flagged_at
WHERE flags.flagged_at IS NULL;

-- name: decide_flags
-- Decide flags, whether they are there or not; the first decision about each counts.
INSERT INTO flags (
    subject, flag_id, tenant, state, actor, reason, decided_at, decided_by_turn
)
SELECT DISTINCT ON (subject, flag_id)
    subject, flag_id, tenant, state, actor, reason, decided_at, decided_by_turn
FROM unnest(
    %(subjects)b::uuid[], %(flag_ids)b::uuid[], %(tenants)b::text[], %(states)b::text[],
    %(actors)b::text[], %(reasons)b::text[], %(decided_at)b::timestamptz[],
    %(decided_by_turns)b::uuid[]
) WITH ORDINALITY AS listed (
    subject, flag_id, tenant, state, actor, reason, decided_at, decided_by_turn, place
)
ORDER BY subject, flag_id, place
ON CONFLICT (subject, flag_id) DO UPDATE
SET
    state = excluded.state,
    actor = excluded.actor,
    reason = excluded.reason,
    decided_at = excluded.decided_at,
    decided_by_turn = excluded.decided_by_turn
WHERE flags.decided_at IS NULL;

-- name: reject_operations
-- Note which operations were refused, and why; one that is known already stays as it is.
INSERT INTO rejections (subject, record_id, place, turn_id, reasons, rejected_at)
SELECT subject, record_id, place, turn_id, reasons::text[], rejected_at
FROM unnest(
    %(subjects)b::uuid[], %(record_ids)b::uuid[], %(places)b::integer[], %(turn_ids)b::uuid[],
    %(reasons)b::text[], %(rejected_at)b::timestamptz[]
) AS listed (subject, record_id, place, turn_id, reasons, rejected_at)
ON CONFLICT (subject, record_id, place) DO NOTHING;

-- name: add_spending
-- Add what asking models cost to the sums, in one order for every writer.
INSERT INTO spending (
    partition, day, tenant, extractor, model, closings, turns, calls, input_tokens, output_tokens,
    cache_read_tokens, cache_write_tokens
)
SELECT
    partition, day, tenant, extractor, model, count(*), sum(turns), sum(calls),
    sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), sum(cache_write_tokens)
FROM unnest(
    %(partitions)b::integer[], %(days)b::date[], %(tenants)b::text[], %(extractors)b::text[],
    %(models)b::text[], %(turns)b::bigint[], %(calls)b::bigint[], %(input_tokens)b::bigint[],
    %(output_tokens)b::bigint[], %(cache_read_tokens)b::bigint[],
    %(cache_write_tokens)b::bigint[]
) AS listed (
    partition, day, tenant, extractor, model, turns, calls, input_tokens, output_tokens,
    cache_read_tokens, cache_write_tokens
)
GROUP BY partition, day, tenant, extractor, model
ORDER BY partition, day, tenant, extractor, model
ON CONFLICT (partition, day, tenant, extractor, model) DO UPDATE
SET
    closings = spending.closings + excluded.closings,
    turns = spending.turns + excluded.turns,
    calls = spending.calls + excluded.calls,
    input_tokens = spending.input_tokens + excluded.input_tokens,
    output_tokens = spending.output_tokens + excluded.output_tokens,
    cache_read_tokens = spending.cache_read_tokens + excluded.cache_read_tokens,
    cache_write_tokens = spending.cache_write_tokens + excluded.cache_write_tokens;

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
