-- What became of one subject's turns, and of the other records of the turns topic.

-- name: select_turn
-- Return a record, how it closed, what it waits for, which recall it was answered with, which record
-- settled it, and which turns it settled itself.
SELECT
    turns.turn_id, turns.partition, turns.turn_offset, turns.closing,
    coalesce(turns.settled_offset, turns.outcome_offset) AS events_offset, waiting.cause AS waits_for,
    turns.recall_id,
    (
        SELECT settling.turn_id FROM turns AS settling
        WHERE settling.subject = turns.subject
            AND settling.partition = turns.partition
            AND settling.outcome_offset = turns.settled_offset
    ) AS settled_by,
    ARRAY(
        SELECT settled.turn_id FROM turns AS settled
        WHERE settled.subject = turns.subject
            AND settled.partition = turns.partition
            AND settled.settled_offset = turns.outcome_offset
        ORDER BY settled.turn_offset
    ) AS settled
FROM turns
LEFT JOIN waiting_turns AS waiting
    ON waiting.subject = turns.subject AND waiting.turn_id = turns.turn_id
WHERE turns.subject = %(subject)s AND turns.turn_id = %(turn_id)s;

-- name: select_contents
-- Return what memories say, those that are held.
SELECT memory_id, content FROM memories
WHERE subject = %(subject)s AND memory_id = ANY (%(memory_ids)s::uuid[]);

-- name: select_caused
-- Return the versions that a record's words caused, as the listing of memories shows them.
SELECT
    memory_id, lineage_id, kind, content, slot, about, importance, confidence, source, turn_id,
    conversation_id, quote, valid_from,
    valid_from_precision, valid_to, recorded_at, closed_recorded_at, retracted_at,
    last_confirmed_at, confirmations, expires_at, provenance, merged_from, merged_into, pinned_at,
    CASE
        WHEN retracted_at IS NOT NULL THEN 'retracted'
        WHEN valid_to IS NOT NULL THEN 'superseded'
        WHEN merged_into IS NOT NULL THEN 'merged'
        WHEN expires_at <= %(now)s::timestamptz THEN 'expired'
        ELSE 'live'
    END AS state,
    embedding IS NOT NULL AS searchable
FROM memories
WHERE subject = %(subject)s AND turn_id = %(turn_id)s
ORDER BY recorded_at, memory_id;

-- name: select_refused
-- Return what was refused of a record: what rests on its words, what was proposed for it, and what
-- was proposed for the end of its session of which nobody can tell whose words it rests on.
SELECT record_id, place, turn_id, reasons, rejected_at
FROM rejections
WHERE subject = %(subject)s
    AND (
        turn_id = %(turn_id)s
        OR record_id = %(turn_id)s
        OR (
            turn_id IS NULL
            AND record_id = (
                SELECT settling.turn_id
                FROM turns AS settled JOIN turns AS settling
                    ON settling.subject = settled.subject
                    AND settling.partition = settled.partition
                    AND settling.outcome_offset = settled.settled_offset
                WHERE settled.subject = %(subject)s AND settled.turn_id = %(turn_id)s
            )
        )
    )
ORDER BY rejected_at, record_id, place;

-- name: select_raised
-- Return the flags that a record's words were raised for, and those that it decided.
SELECT flag_id, state, reasons
FROM flags
WHERE subject = %(subject)s
    AND flagged_at IS NOT NULL
    AND (turn_id = %(turn_id)s OR decided_by_turn = %(turn_id)s)
ORDER BY flagged_at, flag_id;

-- name: list_turns
-- Return a page of records, the latest first: those of one closing, those that are open, or all. It
-- begins in front of an offset.
WITH page AS MATERIALIZED (
    SELECT turn_id, partition, turn_offset, closing, settled_offset
    FROM turns
    WHERE subject = %(subject)s
        AND (%(closing)s::text IS NULL OR closing = %(closing)s::text)
        AND (NOT %(open)s::boolean OR closing IS NULL)
        AND (%(before)s::bigint IS NULL OR turn_offset < %(before)s::bigint)
    ORDER BY turn_offset DESC
    LIMIT %(limit)s
),
-- What was refused of each, as of one record.
refused AS (
    SELECT page.turn_id, rejections.reasons
    FROM page JOIN rejections ON rejections.turn_id = page.turn_id
    WHERE rejections.subject = %(subject)s
    UNION ALL
    SELECT page.turn_id, rejections.reasons
    FROM page JOIN rejections ON rejections.record_id = page.turn_id
    WHERE rejections.subject = %(subject)s
    UNION ALL
    SELECT page.turn_id, rejections.reasons
    FROM page
    JOIN turns AS settling
        ON settling.partition = page.partition AND settling.outcome_offset = page.settled_offset
    JOIN rejections ON rejections.record_id = settling.turn_id AND rejections.turn_id IS NULL
    WHERE rejections.subject = %(subject)s AND settling.subject = %(subject)s
),
reasons AS (
    SELECT refused.turn_id, array_agg(DISTINCT reason ORDER BY reason) AS reasons
    FROM refused, unnest(refused.reasons) AS reason
    GROUP BY refused.turn_id
),
caused AS (
    SELECT turn_id, count(*) AS memories
    FROM memories
    WHERE subject = %(subject)s AND turn_id IN (SELECT page.turn_id FROM page)
    GROUP BY turn_id
)
SELECT
    page.turn_id, page.partition, page.turn_offset, page.closing, waiting.cause AS waits_for,
    coalesce(caused.memories, 0) AS memories,
    coalesce(reasons.reasons, '{}') AS reasons
FROM page
LEFT JOIN waiting_turns AS waiting
    ON waiting.subject = %(subject)s AND waiting.turn_id = page.turn_id
LEFT JOIN caused ON caused.turn_id = page.turn_id
LEFT JOIN reasons ON reasons.turn_id = page.turn_id
ORDER BY page.turn_offset DESC;

-- name: select_closed
-- Return how a record closed and by which rules something that was proposed for it was refused.
SELECT
    closing,
    ARRAY(
        SELECT DISTINCT reason FROM rejections, unnest(rejections.reasons) AS reason
        WHERE rejections.subject = %(subject)s AND rejections.record_id = %(turn_id)s
        ORDER BY reason
    ) AS reasons
FROM turns
WHERE subject = %(subject)s AND turn_id = %(turn_id)s AND closing IS NOT NULL;
