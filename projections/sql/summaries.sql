-- What is asked about summaries of sessions.

-- name: select_turns_without
-- Return the turns of a conversation that no summary tells of, by offset, behind an offset; those
-- that closed as erased, or are noted to be gone, are left out.
SELECT turn_id, turn_offset, closing = %(deferred)s AS waits
FROM turns
WHERE subject = %(subject)s
    AND conversation_id = %(conversation_id)s
    AND turn_offset < %(below)s
    AND turn_offset > %(behind)s
    AND closing <> %(erased)s
    AND NOT EXISTS (
        SELECT FROM summary_sources AS told
        WHERE told.subject = turns.subject AND told.source_id = turns.turn_id
    )
    AND NOT EXISTS (SELECT FROM forgotten_sources WHERE source_id = turns.turn_id)
ORDER BY turn_offset
LIMIT %(limit)s;

-- name: select_forgotten
-- Return which of some sources are noted to be gone.
SELECT source_id FROM forgotten_sources WHERE source_id = ANY (%(source_ids)s::uuid[]);

-- name: select_due
-- Return the conversations of a partition, of whatever subject, whose summaries are due, in order,
-- behind one of them; the caller may see all of them.
SELECT subject, conversation_id, mark
FROM due_summaries
WHERE partition = %(partition)s
    AND (
        %(after_subject)s::uuid IS NULL
        OR (subject, conversation_id COLLATE "C")
        > (%(after_subject)s::uuid, %(after_conversation_id)s::text)
    )
ORDER BY subject, conversation_id COLLATE "C"
LIMIT %(limit)s;

-- name: select_summaries
-- Return what the ends of a subject's sessions came to, of one conversation or of all, the latest
-- first. A summary is told only while every turn of it is known and not erased: of a turn that is gone
-- from the log nothing may be left to say so.
SELECT
    conversation_id, summary, reason, refused, cut, shortened, more, cardinality(turn_ids) AS turns,
    first_said_at, last_said_at, extractor, model, made_at
FROM session_summaries
WHERE subject = %(subject)s
    AND (%(conversation_id)s::text IS NULL OR conversation_id = %(conversation_id)s)
    AND NOT EXISTS (
        SELECT FROM unnest(turn_ids) AS source (turn_id)
        LEFT JOIN turns
            ON turns.subject = session_summaries.subject AND turns.turn_id = source.turn_id
        WHERE turns.turn_id IS NULL OR turns.closing = %(erased)s
    )
ORDER BY turn_offset DESC
LIMIT %(limit)s;

-- name: select_is_due
-- Tell whether a summary of a subject, of one conversation or of any, is to be made again.
SELECT EXISTS (
    SELECT FROM due_summaries
    WHERE subject = %(subject)s
        AND (%(conversation_id)s::text IS NULL OR conversation_id = %(conversation_id)s)
) AS is_due;

-- name: list_summaries
-- Return a page of a subject's summaries, the latest first, in front of an offset; only those that are
-- told, as above.
SELECT
    turn_offset,
    conversation_id, summary, reason, refused, cut, shortened, more, cardinality(turn_ids) AS turns,
    first_said_at, last_said_at, extractor, model, made_at
FROM session_summaries
WHERE subject = %(subject)s
    AND summary IS NOT NULL
    AND (%(before)s::bigint IS NULL OR turn_offset < %(before)s)
    AND NOT EXISTS (
        SELECT FROM unnest(turn_ids) AS source (turn_id)
        LEFT JOIN turns
            ON turns.subject = session_summaries.subject AND turns.turn_id = source.turn_id
        WHERE turns.turn_id IS NULL OR turns.closing = %(erased)s
    )
ORDER BY turn_offset DESC
LIMIT %(limit)s;
