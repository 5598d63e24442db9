-- Listing what is stored of one subject.

-- name: list_memories
-- Return a page of versions, the latest recorded first: those that hold now, those that held at
-- as_of, or all of them. It begins after the version that the page before ended with. The columns are
-- those of a ListedMemory, and stand whole in each query that returns some, so that it can be run and
-- explained as it is.
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
WHERE subject = %(subject)s
    AND CASE
        WHEN %(history)s::boolean THEN true
        WHEN %(as_of)s::timestamptz IS NULL THEN
            valid_to IS NULL
            AND retracted_at IS NULL
            AND merged_into IS NULL
            AND (expires_at IS NULL OR expires_at > %(now)s::timestamptz)
        ELSE
            valid_from <= %(as_of)s::timestamptz
            AND (valid_to IS NULL OR valid_to > %(as_of)s::timestamptz)
            AND retracted_at IS NULL
            -- Before the version that stands for it was true, this one is what was.
            AND (merged_into IS NULL OR merged_valid_from > %(as_of)s::timestamptz)
            AND (expires_at IS NULL OR expires_at > %(as_of)s::timestamptz)
    END
    AND (
        %(after_memory_id)s::uuid IS NULL
        OR (recorded_at, memory_id)
            < (%(after_recorded_at)s::timestamptz, %(after_memory_id)s::uuid)
    )
ORDER BY recorded_at DESC, memory_id DESC
LIMIT %(limit)s;

-- name: list_history
-- Return a page of the versions of one memory's lineage, and of all that stand behind one of them
-- since a consolidation, the latest recorded first. It begins after the version that the page before
-- ended with.
WITH RECURSIVE told AS (
    SELECT memory_id, merged_from
    FROM memories
    WHERE subject = %(subject)s
        AND lineage_id = (
            SELECT named.lineage_id FROM memories AS named
            WHERE named.subject = %(subject)s AND named.memory_id = %(memory_id)s
        )
    UNION
    SELECT source.memory_id, source.merged_from
    FROM told
    JOIN memories AS source
        ON source.subject = %(subject)s AND source.memory_id = ANY (told.merged_from)
)
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
WHERE subject = %(subject)s
    AND memory_id IN (SELECT told.memory_id FROM told)
    AND (
        %(after_memory_id)s::uuid IS NULL
        OR (recorded_at, memory_id)
            < (%(after_recorded_at)s::timestamptz, %(after_memory_id)s::uuid)
    )
ORDER BY recorded_at DESC, memory_id DESC
LIMIT %(limit)s;
