-- How summaries of sessions come and go. What is forgotten is noted, and what comes later is held
-- against the notes, so the order in which the two are applied changes nothing.

-- name: see_every_source
-- Let the next statement look for sources of whatever subject.
SELECT set_config('memledger.every_subject', 'yes', true);

-- name: name_subjects_of_sources
-- Let the statements behind it see, beside the subjects of the batch, those of whose summaries any
-- is made from these sources: a tombstone may not tell whose it was.
SELECT set_config(
    'memledger.subjects',
    (
        SELECT coalesce(array_agg(DISTINCT subject), '{}')::text
        FROM (
            SELECT unnest(
                NULLIF(current_setting('memledger.subjects', true), '')::uuid[]
            ) AS subject
            UNION
            SELECT subject FROM summary_sources WHERE source_id = ANY (%(source_ids)b::uuid[])
        ) AS theirs
    ),
    true
);

-- name: see_named_sources
-- Let the statements behind it see the named subjects alone.
SELECT set_config('memledger.every_subject', '', true);

-- name: forget_sources
-- Note what is gone; drop every summary that was made from it, and let it be made again from what is
-- left.
WITH noted AS (
    INSERT INTO forgotten_sources (source_id)
    SELECT DISTINCT source_id FROM unnest(%(source_ids)b::uuid[]) AS listed (source_id)
    ON CONFLICT (source_id) DO NOTHING
),
named AS (
    SELECT DISTINCT subject, record_id
    FROM summary_sources WHERE source_id = ANY (%(source_ids)b::uuid[])
),
freed AS (
    DELETE FROM summary_sources USING named
    WHERE summary_sources.subject = named.subject AND summary_sources.record_id = named.record_id
),
dropped AS (
    DELETE FROM session_summaries USING named
    WHERE session_summaries.subject = named.subject
        AND session_summaries.record_id = named.record_id
    RETURNING
        session_summaries.subject, session_summaries.conversation_id, session_summaries.partition,
        session_summaries.record_id
)
INSERT INTO due_summaries (subject, conversation_id, partition, mark)
SELECT DISTINCT ON (subject, conversation_id) subject, conversation_id, partition, record_id
FROM dropped
ORDER BY subject, conversation_id, record_id
ON CONFLICT (subject, conversation_id) DO UPDATE SET mark = excluded.mark, attempts = 0;

-- name: forget_sources_of_memories
-- The same for the turns whose words were deleted as memories, before these are: no summary tells
-- any more what one of them said.
WITH named AS (
    SELECT DISTINCT subject, memory_id
    FROM unnest(%(subjects)b::uuid[], %(memory_ids)b::uuid[]) AS listed (subject, memory_id)
),
sources AS (
    SELECT memories.subject, memories.turn_id
    FROM named JOIN memories
        ON memories.subject = named.subject AND memories.memory_id = named.memory_id
    UNION
    SELECT memories.subject, memories.turn_id
    FROM (SELECT subject, array_agg(memory_id) AS versions FROM named GROUP BY subject) AS theirs
    JOIN memories ON memories.subject = theirs.subject
    WHERE memories.merged_from && theirs.versions
),
noted AS (
    INSERT INTO forgotten_sources (source_id)
    SELECT DISTINCT turn_id FROM sources
    ON CONFLICT (source_id) DO NOTHING
),
made AS (
    SELECT DISTINCT summary_sources.subject, summary_sources.record_id
    FROM summary_sources JOIN sources
        ON sources.subject = summary_sources.subject
        AND sources.turn_id = summary_sources.source_id
),
freed AS (
    DELETE FROM summary_sources USING made
    WHERE summary_sources.subject = made.subject AND summary_sources.record_id = made.record_id
),
dropped AS (
    DELETE FROM session_summaries USING made
    WHERE session_summaries.subject = made.subject AND session_summaries.record_id = made.record_id
    RETURNING
        session_summaries.subject, session_summaries.conversation_id, session_summaries.partition,
        session_summaries.record_id
)
INSERT INTO due_summaries (subject, conversation_id, partition, mark)
SELECT DISTINCT ON (subject, conversation_id) subject, conversation_id, partition, record_id
FROM dropped
ORDER BY subject, conversation_id, record_id
ON CONFLICT (subject, conversation_id) DO UPDATE SET mark = excluded.mark, attempts = 0;

-- name: give_way
-- Drop what a summary takes the place of: what tells of a turn that it tells of, and what told only
-- why its conversation had none.
WITH named AS (
    SELECT record_id FROM summary_sources
    WHERE subject = %(subject)s AND source_id = ANY (%(turn_ids)s::uuid[])
    UNION
    SELECT record_id FROM session_summaries
    WHERE subject = %(subject)s
        AND conversation_id = %(conversation_id)s
        AND cardinality(turn_ids) = 0
),
freed AS (
    DELETE FROM summary_sources USING named
    WHERE summary_sources.subject = %(subject)s AND summary_sources.record_id = named.record_id
)
DELETE FROM session_summaries USING named
WHERE session_summaries.subject = %(subject)s AND session_summaries.record_id = named.record_id;

-- name: insert_summary
-- Insert a summary, or why there is none, unless anything that it was made from is gone.
WITH inserted AS (
    INSERT INTO session_summaries (
        subject, record_id, partition, conversation_id, turn_offset, summary, reason, turn_ids,
        refused, cut, shortened, more, first_said_at, last_said_at, extractor, model, prompt_hash,
        made_at
    )
    SELECT
        %(subject)s::uuid, %(record_id)s::uuid, %(partition)s::integer, %(conversation_id)s::text,
        %(turn_offset)s::bigint, %(summary)s::text, %(reason)s::text, %(turn_ids)s::uuid[],
        %(refused)s::jsonb, %(cut)s::integer, %(shortened)s::integer, %(more)s::boolean,
        %(first_said_at)s::timestamptz, %(last_said_at)s::timestamptz, %(extractor)s::text,
        %(model)s::text, %(prompt_hash)s::text, %(made_at)s::timestamptz
    WHERE NOT EXISTS (
        SELECT FROM forgotten_sources WHERE source_id = ANY (%(source_ids)s::uuid[])
    )
    ON CONFLICT (subject, record_id) DO NOTHING
    RETURNING subject, record_id
)
INSERT INTO summary_sources (subject, source_id, record_id)
SELECT inserted.subject, listed.source_id, inserted.record_id
FROM inserted, unnest(%(source_ids)s::uuid[]) AS listed (source_id)
ON CONFLICT (subject, source_id) DO NOTHING;

-- name: mark_due
-- Let a conversation's summary be made again by a worker, where this end of its session says so or
-- brought one that does not count.
INSERT INTO due_summaries (subject, conversation_id, partition, mark)
SELECT %(subject)s::uuid, %(conversation_id)s::text, %(partition)s::integer, %(record_id)s::uuid
WHERE %(due)s::boolean
    OR EXISTS (SELECT FROM forgotten_sources WHERE source_id = ANY (%(source_ids)s::uuid[]))
ON CONFLICT (subject, conversation_id) DO NOTHING;

-- name: count_attempt
-- Count what the end of a session did for a summary that is due: one that was made begins anew, and
-- so does one that does not count.
UPDATE due_summaries
SET
    attempts = CASE WHEN began.anew THEN 0 ELSE attempts + 1 END,
    mark = CASE WHEN began.anew THEN %(record_id)s::uuid ELSE mark END
FROM (
    SELECT
        %(made)s::boolean
        OR EXISTS (SELECT FROM forgotten_sources WHERE source_id = ANY (%(source_ids)s::uuid[]))
        AS anew
) AS began
WHERE due_summaries.subject = %(subject)s AND due_summaries.conversation_id = %(conversation_id)s;

-- name: drop_due
-- A summary is due no more where it was tried often enough, or where every turn of the conversation
-- in front of this end of its session is told of.
DELETE FROM due_summaries
WHERE subject = %(subject)s
    AND conversation_id = %(conversation_id)s
    AND (
        attempts >= %(attempts_max)s
        OR NOT EXISTS (
            SELECT FROM turns
            WHERE turns.subject = due_summaries.subject
                AND turns.conversation_id = due_summaries.conversation_id
                AND turns.turn_offset < %(turn_offset)s
                AND turns.closing <> ALL (%(untold)s::text[])
                AND NOT EXISTS (
                    SELECT FROM summary_sources AS told
                    WHERE told.subject = turns.subject AND told.source_id = turns.turn_id
                )
                AND NOT EXISTS (
                    SELECT FROM forgotten_sources WHERE source_id = turns.turn_id
                )
        )
    );
