-- What a consolidation looks through.

-- name: select_crowded
-- Return subjects behind one, in order, that hold many live episodes for which none stands, with
-- their memory that was recorded last; the caller may see all of them. Merged versions are what a
-- consolidation itself records, so they do not count.
SELECT crowded.subject, newest.memory_id, newest.recorded_at
FROM (
    SELECT subject
    FROM memories
    WHERE kind = 'episodic'
        AND valid_to IS NULL
        AND retracted_at IS NULL
        AND merged_into IS NULL
        AND merged_from = '{}'
        AND (%(after)s::uuid IS NULL OR subject > %(after)s::uuid)
    GROUP BY subject
    HAVING count(*) >= %(episodes_min)s
    ORDER BY subject
    LIMIT %(limit)s
) AS crowded
CROSS JOIN LATERAL (
    SELECT memory_id, recorded_at
    FROM memories
    WHERE memories.subject = crowded.subject AND merged_from = '{}'
    ORDER BY recorded_at DESC, memory_id DESC
    LIMIT 1
) AS newest
ORDER BY crowded.subject;

-- name: select_starts
-- Return how those of some starts of consolidations closed that the named subjects have; NULL for one
-- that is open.
SELECT turns.subject, turns.closing
FROM unnest(%(subjects)s::uuid[], %(record_ids)s::uuid[]) AS asked (subject, record_id)
JOIN turns ON turns.subject = asked.subject AND turns.turn_id = asked.record_id;

-- name: select_live
-- Return a subject's live memories that may find room: of its episodes, and of its other memories,
-- those that stand for none and those that do, the ones that were recorded last; and of the episodes
-- that stand for none the longest true as well. An episode that a person decided about is never merged.
WITH live AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY kind = 'episodic', merged_from = '{}' ORDER BY valid_from, memory_id
        ) AS by_age,
        row_number() OVER (
            PARTITION BY kind = 'episodic', merged_from = '{}'
            ORDER BY recorded_at DESC, memory_id DESC
        ) AS by_news
    FROM memories
    WHERE subject = %(subject)s
        AND valid_to IS NULL
        AND retracted_at IS NULL
        AND merged_into IS NULL
        AND (expires_at IS NULL OR expires_at > now())
        AND (kind <> 'episodic' OR (curated_at IS NULL AND pinned_at IS NULL))
)
SELECT
    memory_id, lineage_id, kind, content, slot, about, importance, confidence, source, turn_id,
    conversation_id, quote, valid_from,
    valid_from_precision, valid_to, recorded_at, expires_at, merged_from
FROM live
WHERE CASE
    WHEN kind <> 'episodic' THEN by_news <= %(facts_max)s
    WHEN merged_from <> '{}' THEN by_news <= %(episodes_max)s
    ELSE by_news <= %(episodes_max)s OR by_age <= %(episodes_max)s
END;

-- name: select_sources
-- Return the versions of a subject by their ids.
SELECT
    memory_id, lineage_id, kind, content, slot, about, importance, confidence, source, turn_id,
    conversation_id, quote, valid_from,
    valid_from_precision, valid_to, recorded_at, expires_at, merged_from
FROM memories
WHERE subject = %(subject)s AND memory_id = ANY (%(memory_ids)s::uuid[]) AND retracted_at IS NULL;
