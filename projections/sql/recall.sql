-- What recall asks the read model. Every statement names its subject; row-level security is the
-- second wall, not the only one.
--
-- All memories that hold are weighed, not here but by the process that asks, so they are told in few
-- long columns: one row and four values are cheaper than a thousand rows. The values of a memory stand at
-- the same place in each column.

-- name: weigh_now
-- Return what weighs the memories that hold now, with how far this answer reaches, in the first row; and
-- in others, whole, those that are most probably served: what always is, and what is near in meaning.
--
-- It names its subject itself, which spares a statement: whatever is read of a subject hangs on a row of
-- what names it, so it cannot be read before. If it were, nothing would be found.
WITH named AS MATERIALIZED (
    SELECT
        %(subject)s::uuid AS subject,
        set_config('memledger.subjects', ARRAY[%(subject)s::uuid]::text, true) AS setting
),
weighed AS MATERIALIZED (
    SELECT named.subject, summed.*
    FROM named
    CROSS JOIN LATERAL (
        SELECT
            count(*) AS stored,
            string_agg(facts, ''::bytea) AS facts,
            string_agg(float4send(cosine), ''::bytea) AS cosines,
            string_agg(timestamptz_send(pinned_at), ''::bytea) FILTER (WHERE pinned_at IS NOT NULL)
                AS pinned_ats,
            string_agg(coalesce(words, '\x0000000001000000'), ''::bytea) AS words,
            -- Not in their order here, for which the planner would sort all rows: bytes 5 to 20 are the id, 29
            -- and 30 the marks, and those of cosines above zero are in the order of the cosines.
            array_agg(float4send(cosine) || facts) FILTER (
                -- What is no number is greater than all numbers here.
                WHERE (cosine >= %(min_similarity)s AND cosine <> 'NaN')
                    -- Procedural, for the user's safety, pinned, or of a topic that is asked for: see the
                    -- column. Most of it lies in one byte.
                    OR get_byte(facts, 25) & %(wanted_low)s::integer <> 0
                    OR (
                        %(wanted_high)s::integer <> 0
                        AND get_byte(facts, 24) & %(wanted_high)s::integer <> 0
                    )
            ) AS probable
        FROM (
            SELECT
                facts, pinned_at, words,
                CASE WHEN embedding_model = %(model)s
                    -- A vector of length 0 has no direction: its distance is no number.
                    THEN (1 - (embedding <=> (SELECT (%(vectors)b::halfvec[])[1])))::real
                    ELSE 'NaN'
                END AS cosine
            FROM memories
            WHERE subject = named.subject
                AND valid_to IS NULL
                AND retracted_at IS NULL
                AND merged_into IS NULL
                AND (expires_at IS NULL OR expires_at > %(now)s)
            -- Or else the planner has the cosine computed once for each time that it is named.
            OFFSET 0
        ) AS held
    ) AS summed
)
SELECT
    stored, facts, cosines, pinned_ats, words,
    (
        SELECT next_offset FROM positions
        WHERE topic = %(turns_topic)s AND partition = %(partition)s
    ) AS turns_next,
    (
        SELECT min(turn_offset) FROM turns
        WHERE turns.subject = weighed.subject AND closing IS NULL
    ) AS first_open,
    NULL::uuid AS memory_id, NULL::uuid AS lineage_id, NULL AS kind, NULL AS content, NULL AS slot,
    NULL AS about, NULL::smallint AS importance, NULL AS confidence, NULL AS source,
    NULL::uuid AS turn_id, NULL AS quote, NULL::timestamptz AS valid_from,
    NULL AS valid_from_precision, NULL::timestamptz AS valid_to, NULL::timestamptz AS recorded_at,
    NULL::jsonb AS provenance, NULL::boolean AS pinned, NULL::halfvec AS embedding
FROM weighed
UNION ALL
SELECT
    NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    memory_id, lineage_id, kind, content, slot, about, importance, confidence, source, turn_id,
    quote, valid_from, valid_from_precision, valid_to, recorded_at, provenance,
    pinned_at IS NOT NULL,
    CASE WHEN embedding_model = %(model)s THEN embedding END
FROM (
    SELECT entry
    FROM (SELECT unnest(probable) AS entry FROM weighed) AS listed
    ORDER BY
        get_byte(entry, 29) & %(wanted_low)s::integer <> 0
        OR get_byte(entry, 28) & %(wanted_high)s::integer <> 0 DESC,
        entry DESC
    LIMIT %(probable)s
) AS probable
CROSS JOIN LATERAL (
    SELECT * FROM memories
    WHERE subject = %(subject)s
        AND memory_id = encode(substring(probable.entry FROM 5 FOR 16), 'hex')::uuid
    -- One by one: for a join the planner would read all rows of the subject in the table.
    LIMIT 1
) AS whole;

-- name: serve_now
-- Return some memories, as far as they still hold.
SELECT
    memory_id, lineage_id, kind, content, slot, about, importance, confidence, source, turn_id,
    quote, valid_from, valid_from_precision, valid_to, recorded_at, provenance,
    pinned_at IS NOT NULL AS pinned,
    CASE WHEN embedding_model = %(model)s THEN embedding END AS embedding
FROM memories
WHERE subject = %(subject)s
    AND memory_id = ANY (%(memory_ids)b::uuid[])
    AND valid_to IS NULL
    AND retracted_at IS NULL
    AND merged_into IS NULL
    AND (expires_at IS NULL OR expires_at > %(now)s);

-- name: weigh_then
-- Return the first row of the same for another moment: what was true at as_of, as far as it was known at known_at.
-- Without as_of: what was held to be true at known_at. Without known_at: with what is known now.
-- A valid_to that was learnt after known_at counts as open; of the versions of a lineage that then
-- seem to hold at one time, the one that began last is meant. What another version stands for is left
-- out, unless that was learnt after known_at, or the other one was not true yet at as_of.
WITH known AS (
    SELECT
        memory_id, lineage_id, valid_from, expires_at, embedding_model, embedding, facts,
        pinned_at, words,
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
    SELECT DISTINCT ON (lineage_id)
        facts, pinned_at, words,
        CASE WHEN embedding_model = %(model)s
            THEN (1 - (embedding <=> (SELECT (%(vectors)b::halfvec[])[1])))::real
            ELSE 'NaN'
        END AS cosine
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
    ORDER BY lineage_id, known.valid_from DESC, memory_id
)
SELECT
    count(*) AS stored,
    string_agg(facts, ''::bytea) AS facts,
    string_agg(float4send(cosine), ''::bytea) AS cosines,
    string_agg(timestamptz_send(pinned_at), ''::bytea) FILTER (WHERE pinned_at IS NOT NULL)
        AS pinned_ats,
    string_agg(coalesce(words, '\x0000000001000000'), ''::bytea) AS words,
    (
        SELECT next_offset FROM positions
        WHERE topic = %(turns_topic)s AND partition = %(partition)s
    ) AS turns_next,
    (
        SELECT min(turn_offset) FROM turns WHERE subject = %(subject)s AND closing IS NULL
    ) AS first_open
FROM held;

-- name: serve_then
-- Return some memories that weigh_then found, as they were known at known_at, as far as they still are.
SELECT
    memory_id, lineage_id, kind, content, slot, about, importance, confidence, source, turn_id,
    quote, valid_from, valid_from_precision,
    CASE
        WHEN closed_recorded_at > %(known_at)s::timestamptz THEN NULL
        ELSE valid_to
    END AS valid_to,
    recorded_at, provenance,
    pinned_at IS NOT NULL AS pinned,
    CASE WHEN embedding_model = %(model)s THEN embedding END AS embedding
FROM memories
WHERE subject = %(subject)s
    AND memory_id = ANY (%(memory_ids)b::uuid[])
    AND (retracted_at IS NULL OR retracted_at > coalesce(%(known_at)s::timestamptz, 'infinity'));

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
