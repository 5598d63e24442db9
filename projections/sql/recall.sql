-- What recall asks the read model. Every statement names its subject; row-level security is the
-- second wall, not the only one.

-- name: recall_now
-- Return the memories that hold now and are near to a vector, with how far this answer reaches.
-- Always one row at least: where nothing is near enough, its memory is null.
WITH candidates AS MATERIALIZED (
    SELECT
        memory_id,
        CASE WHEN embedding_model = %(model)s THEN
            -- A vector of length 0 has no direction and would be greater than every threshold.
            nullif(1 - (embedding <=> (SELECT (%(vectors)b::halfvec[])[1])), 'NaN')
        END AS score
    FROM memories
    WHERE subject = %(subject)s
        AND valid_to IS NULL
        AND retracted_at IS NULL
        AND merged_into IS NULL
        AND (expires_at IS NULL OR expires_at > %(now)s)
),
totals AS (
    SELECT count(*) AS stored, count(score) AS searched, max(score) AS nearest FROM candidates
),
best AS (
    SELECT memory_id, score FROM candidates
    WHERE score >= %(min_similarity)s
    ORDER BY score DESC, memory_id
    LIMIT %(limit)s
)
SELECT
    totals.stored, totals.searched, totals.nearest, best.score,
    (
        SELECT next_offset FROM positions
        WHERE topic = %(turns_topic)s AND partition = %(partition)s
    ) AS turns_next,
    (
        SELECT min(turn_offset) FROM turns WHERE subject = %(subject)s AND closing IS NULL
    ) AS first_open,
    memories.memory_id, memories.lineage_id, memories.kind, memories.content, memories.slot,
    memories.about, memories.importance, memories.confidence, memories.source, memories.turn_id,
    memories.quote, memories.valid_from,
    memories.valid_from_precision, memories.valid_to, memories.recorded_at,
    memories.provenance
FROM totals
LEFT JOIN best ON true
LEFT JOIN memories ON memories.subject = %(subject)s AND memories.memory_id = best.memory_id
ORDER BY best.score DESC, best.memory_id;

-- name: recall_then
-- Return the same for another moment: what was true at as_of, as far as it was known at known_at.
-- Without as_of: what was held to be true at known_at. Without known_at: with what is known now.
-- A valid_to that was learnt after known_at counts as open; of the versions of a lineage that then
-- seem to hold at one time, the one that began last is meant. What another version stands for is left
-- out, unless that was learnt after known_at, or the other one was not true yet at as_of.
WITH known AS (
    SELECT
        memory_id, lineage_id, valid_from, expires_at, embedding_model, embedding,
        CASE
            WHEN closed_recorded_at > %(known_at)s::timestamptz THEN NULL
            ELSE valid_to
        END AS valid_to
    FROM memories
    WHERE subject = %(subject)s
        AND recorded_at <= coalesce(%(known_at)s::timestamptz, 'infinity')
        AND (
            retracted_at IS NULL
            OR retracted_at > coalesce(%(known_at)s::timestamptz, 'infinity')
        )
        AND (
            merged_into IS NULL
            OR merged_at > coalesce(%(known_at)s::timestamptz, 'infinity')
            OR merged_valid_from > coalesce(%(as_of)s::timestamptz, 'infinity')
        )
),
held AS (
    SELECT DISTINCT ON (lineage_id) memory_id, valid_to, embedding_model, embedding
    FROM known
    WHERE CASE
            WHEN %(as_of)s::timestamptz IS NULL THEN valid_to IS NULL
            ELSE valid_from <= %(as_of)s::timestamptz
                AND (valid_to IS NULL OR valid_to > %(as_of)s::timestamptz)
        END
        AND (
            expires_at IS NULL
            OR expires_at > coalesce(%(as_of)s::timestamptz, %(known_at)s::timestamptz)
        )
    ORDER BY lineage_id, valid_from DESC, memory_id
),
candidates AS MATERIALIZED (
    SELECT
        memory_id, valid_to,
        CASE WHEN embedding_model = %(model)s THEN
            nullif(1 - (embedding <=> (SELECT (%(vectors)b::halfvec[])[1])), 'NaN')
        END AS score
    FROM held
),
totals AS (
    SELECT count(*) AS stored, count(score) AS searched, max(score) AS nearest FROM candidates
),
best AS (
    SELECT memory_id, valid_to, score FROM candidates
    WHERE score >= %(min_similarity)s
    ORDER BY score DESC, memory_id
    LIMIT %(limit)s
)
SELECT
    totals.stored, totals.searched, totals.nearest, best.score,
    (
        SELECT next_offset FROM positions
        WHERE topic = %(turns_topic)s AND partition = %(partition)s
    ) AS turns_next,
    (
        SELECT min(turn_offset) FROM turns WHERE subject = %(subject)s AND closing IS NULL
    ) AS first_open,
    memories.memory_id, memories.lineage_id, memories.kind, memories.content, memories.slot,
    memories.about, memories.importance, memories.confidence, memories.source, memories.turn_id,
    memories.quote, memories.valid_from,
    memories.valid_from_precision, best.valid_to, memories.recorded_at,
    memories.provenance
FROM totals
LEFT JOIN best ON true
LEFT JOIN memories ON memories.subject = %(subject)s AND memories.memory_id = best.memory_id
ORDER BY best.score DESC, best.memory_id;

-- name: turns_closed
-- Tell whether every turn of a subject at or below an offset is read and closed.
SELECT
    coalesce(
        (
            SELECT next_offset > %(offset)s FROM positions
            WHERE topic = %(turns_topic)s AND partition = %(partition)s
        ),
        false
    )
    AND NOT EXISTS (
        SELECT FROM turns
        WHERE subject = %(subject)s AND closing IS NULL AND turn_offset <= %(offset)s
    ) AS closed;
