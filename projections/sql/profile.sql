-- What stands for a user whatever is talked about: the candidates of the profile.

-- name: select_profile
-- Return the candidates that hold now, section by section, each in an order that follows from what
-- never changes of a version: slot, importance, since when it is true, and its id. Neither a confirmation
-- nor a recall moves any. Of each section as many as told, with how many there are.
WITH candidates AS (
    SELECT
        memory_id, kind, slot, content, about, importance, source, valid_from, valid_from_precision,
        pinned_at IS NOT NULL AS pinned,
        CASE
            WHEN importance = 5 AND slot = ANY (%(safety_slots)s) THEN 'safety'
            WHEN kind = 'procedural' THEN 'rules'
            WHEN pinned_at IS NOT NULL THEN 'pins'
            -- What ceases by itself, was concluded, or is about somebody else is no standing fact.
            WHEN kind = 'semantic' AND about = %(about_user)s AND confidence = 'stated'
                AND expires_at IS NULL AND source <> 'assistant'
                AND (
                    slot = ANY (%(core_slots)s)
                    OR (importance >= %(core_importance)s AND slot <> ALL (%(passing_slots)s))
                ) THEN 'core'
        END AS section
    FROM memories
    WHERE subject = %(subject)s
        AND valid_to IS NULL
        AND retracted_at IS NULL
        AND merged_into IS NULL
        AND (expires_at IS NULL OR expires_at > %(now)s)
),
placed AS (
    SELECT
        *,
        count(*) OVER (PARTITION BY section) AS stored,
        row_number() OVER (
            PARTITION BY section
            ORDER BY
                coalesce(array_position(%(core_slots)s::text[], slot), 1000), importance DESC, valid_from,
                memory_id
        ) AS place
    FROM candidates
    WHERE section IS NOT NULL
)
SELECT
    section, stored, place, memory_id, kind, slot, content, about, importance, source, valid_from,
    valid_from_precision, pinned, NULL::timestamptz AS valid_to
FROM placed
WHERE place <= %(section_max)s
ORDER BY array_position(%(sections)s::text[], section), place;
