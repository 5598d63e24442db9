-- What recalls served: written by the projector, read by whoever has a recall's id.

-- name: insert_recalls
-- Insert what was served; of several records of one id the first counts.
INSERT INTO recalls (
    subject, recall_id, served_at, generation, policy, reason, form, template, budget_tokens, as_of,
    known_at, memory_ids, scores, until, digest
)
SELECT
    subject, recall_id, served_at, generation, policy, reason, form, template, budget_tokens, as_of,
    known_at, memory_ids::uuid[], scores::double precision[], until::text[], digest
FROM unnest(
    %(subjects)b::uuid[], %(recall_ids)b::uuid[], %(served_at)b::timestamptz[],
    %(generations)b::text[], %(policies)b::text[], %(reasons)b::text[], %(forms)b::text[],
    %(templates)b::smallint[], %(budget_tokens)b::integer[], %(as_of)b::timestamptz[],
    %(known_at)b::timestamptz[], %(memory_ids)b::text[], %(scores)b::text[], %(until)b::text[],
    %(digests)b::bytea[]
) AS listed (
    subject, recall_id, served_at, generation, policy, reason, form, template, budget_tokens, as_of,
    known_at, memory_ids, scores, until, digest
)
ON CONFLICT (subject, recall_id) DO NOTHING;

-- name: delete_past
-- Take away what was served before a moment, at most so many, the oldest first.
DELETE FROM recalls
WHERE (subject, recall_id) IN (
    SELECT subject, recall_id FROM recalls
    WHERE served_at < %(before)s
    ORDER BY served_at
    LIMIT %(limit)s
);

-- name: select_recall
-- Return what a recall served, with the turns that were answered with it.
SELECT
    served_at, generation, policy, reason, form, template, budget_tokens, as_of, known_at, memory_ids,
    scores, until, digest,
    ARRAY(
        SELECT turns.turn_id FROM turns
        WHERE turns.subject = recalls.subject AND turns.recall_id = recalls.recall_id
        ORDER BY turns.turn_offset
    ) AS turn_ids
FROM recalls
WHERE subject = %(subject)s AND recall_id = %(recall_id)s AND served_at >= %(kept_from)s;

-- name: select_served
-- Return the versions that a recall served and that are still there, as far as their notes need them.
SELECT
    memories.memory_id, memories.kind, memories.content, memories.about, memories.source,
    memories.valid_from, memories.valid_from_precision
FROM recalls, memories
WHERE recalls.subject = %(subject)s AND recalls.recall_id = %(recall_id)s
    AND memories.subject = %(subject)s AND memories.memory_id = ANY (recalls.memory_ids);

-- name: select_servings
-- Return how often each version that a recall served was served in the days that are kept, and when
-- last.
SELECT served.memory_id, count(*) AS times, max(recalls.served_at) AS last_served_at
FROM recalls, unnest(recalls.memory_ids) AS served (memory_id)
WHERE recalls.subject = %(subject)s
    AND recalls.served_at >= %(kept_from)s
    AND served.memory_id = ANY (
        ARRAY(
            SELECT unnest(one.memory_ids) FROM recalls AS one
            WHERE one.subject = %(subject)s AND one.recall_id = %(recall_id)s
        )
    )
GROUP BY served.memory_id;
