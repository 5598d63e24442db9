-- What the workers ask of the projection.

-- name: claim_partition
-- Make a worker the holder of a partition.
INSERT INTO partitions (partition, owner) VALUES (%(partition)s, %(owner)s)
ON CONFLICT (partition) DO UPDATE SET owner = excluded.owner;

-- name: select_progress
-- Return how far a partition has come, as one snapshot shows it.
SELECT
    coalesce(
        (SELECT array_agg(turn_offset) FROM open_turns WHERE partition = %(partition)s), '{}'
    ) AS open_offsets,
    coalesce(
        (
            SELECT next_offset FROM positions
            WHERE topic = %(turns_topic)s AND partition = %(partition)s
        ),
        0
    ) AS turns_next,
    coalesce(
        (
            SELECT next_offset FROM positions
            WHERE topic = %(memories_topic)s AND partition = %(partition)s
        ),
        0
    ) AS memories_next,
    coalesce(
        (SELECT proposals_floor FROM partitions WHERE partition = %(partition)s), 0
    ) AS proposals_floor;

-- name: select_applied
-- Return the first offset of the memories topic that is not applied, for every partition.
SELECT partition, next_offset FROM positions WHERE topic = %(memories_topic)s;

-- name: listen
-- Hear of every batch that the projector commits.
LISTEN memledger_applied;

-- name: begin_asking
-- Begin a transaction that may not write.
BEGIN READ ONLY;

-- name: enter
-- Let this transaction see the rows of these subjects, which come as an array's text. Plan its
-- statements once for all parameters, since planning costs more than running, and walk indexes
-- only: each finds a few rows by a key, and a plan that was made while the tables were new and empty
-- would read the whole of them until they are analysed.
SELECT
    set_config('memledger.subjects', %(subjects)s, true),
    set_config('plan_cache_mode', 'force_generic_plan', true),
    set_config('enable_seqscan', 'off', true),
    set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true);

-- name: end_asking
-- End it.
COMMIT;

-- name: select_turn_states
-- For each turn that is asked about: how it closed, and who holds its partition.
SELECT
    coalesce(
        turns.closing,
        CASE WHEN refused.outcome_id IS NOT NULL THEN %(refused)s END,
        CASE WHEN erased.outcome_id IS NOT NULL THEN %(erased)s END
    ),
    partitions.owner
FROM unnest(
    %(subjects)b::uuid[], %(turn_ids)b::uuid[], %(outcome_ids)b::uuid[], %(partitions)b::integer[]
) WITH ORDINALITY AS asked (subject, turn_id, outcome_id, partition, place)
LEFT JOIN turns ON turns.subject = asked.subject AND turns.turn_id = asked.turn_id
LEFT JOIN erased_outcomes AS erased ON erased.outcome_id = asked.outcome_id
LEFT JOIN refused_outcomes AS refused
    ON refused.subject = asked.subject
    AND refused.outcome_id = asked.outcome_id
    AND refused.partition = asked.partition
LEFT JOIN partitions ON partitions.partition = asked.partition
ORDER BY asked.place;

-- name: select_nearest
-- For each vector that is asked about: the live memories of its subject, nearest first.
SELECT
    asked.place, nearest.memory_id, nearest.lineage_id, nearest.kind, nearest.content,
    nearest.slot, nearest.about, nearest.importance, nearest.confidence, nearest.source,
    nearest.turn_id, nearest.conversation_id, nearest.quote, nearest.valid_from,
    nearest.valid_from_precision, nearest.valid_to,
    nearest.recorded_at, nearest.expires_at, nearest.provenance, nearest.merged_from,
    nearest.curated_at
FROM unnest(%(subjects)b::uuid[], %(vectors)b::halfvec[], %(most)b::integer[])
    WITH ORDINALITY AS asked (subject, vector, most, place)
CROSS JOIN LATERAL (
    SELECT *, memories.embedding <#> asked.vector AS distance
    FROM memories
    WHERE memories.subject = asked.subject
        AND memories.embedding IS NOT NULL
        AND memories.valid_to IS NULL
        AND memories.retracted_at IS NULL
        AND memories.merged_into IS NULL
        AND (memories.expires_at IS NULL OR memories.expires_at > now())
    ORDER BY distance, memories.memory_id
    LIMIT asked.most
) AS nearest
ORDER BY asked.place, nearest.distance, nearest.memory_id;

-- name: select_related
-- For each question: every version of the lineages that hold one of the slots, statements or
-- versions that it names, what came of a turn that it names, or one of the live statements nearest
-- to a vector, which alone come with their own. A row of a list says to which question, of which
-- subject, it belongs.
WITH alike AS MATERIALIZED (
    SELECT
        asked.place, asked.subject, nearest.lineage_id, nearest.memory_id,
        any_value(nearest.embedding) AS embedding
    FROM unnest(
        %(near_places)b::integer[], %(near_subjects)b::uuid[], %(near_slots)b::text[],
        %(near_abouts)b::text[], %(near_kinds)b::text[], %(near_vectors)b::halfvec[],
        %(near_most)b::integer[]
    ) AS asked (place, subject, slot, about, kind, vector, most)
    CROSS JOIN LATERAL (
        SELECT memories.lineage_id, memories.memory_id, memories.embedding
        FROM memories
        WHERE memories.subject = asked.subject
            AND memories.slot = asked.slot AND memories.about = asked.about
            AND memories.kind = asked.kind
            AND memories.embedding IS NOT NULL
            AND memories.valid_to IS NULL
            AND memories.retracted_at IS NULL
            AND memories.merged_into IS NULL
        ORDER BY memories.embedding <#> asked.vector, memories.memory_id
        LIMIT asked.most
    ) AS nearest
    GROUP BY asked.place, asked.subject, nearest.lineage_id, nearest.memory_id
), lineages AS (
    SELECT named.place, memories.subject, memories.lineage_id
    FROM unnest(
        %(slot_places)b::integer[], %(slot_subjects)b::uuid[], %(slots)b::text[], %(abouts)b::text[]
    ) AS named (place, subject, slot, about)
    JOIN memories ON memories.subject = named.subject
        AND memories.slot = named.slot AND memories.about = named.about
    UNION
    SELECT named.place, memories.subject, memories.lineage_id
    FROM unnest(%(key_places)b::integer[], %(key_subjects)b::uuid[], %(keys)b::bytea[])
        AS named (place, subject, statement_key)
    JOIN memories ON memories.subject = named.subject
        AND memories.statement_key = named.statement_key
    UNION
    SELECT named.place, memories.subject, memories.lineage_id
    FROM unnest(%(memory_places)b::integer[], %(memory_subjects)b::uuid[], %(memories)b::uuid[])
        AS named (place, subject, memory_id)
    JOIN memories ON memories.subject = named.subject AND memories.memory_id = named.memory_id
    UNION
    SELECT named.place, memories.subject, memories.lineage_id
    FROM unnest(%(turn_places)b::integer[], %(turn_subjects)b::uuid[], %(turns)b::uuid[])
        AS named (place, subject, turn_id)
    JOIN memories ON memories.subject = named.subject AND memories.turn_id = named.turn_id
    UNION
    SELECT alike.place, alike.subject, alike.lineage_id FROM alike
)
SELECT
    lineages.place, memories.memory_id, memories.lineage_id, memories.kind, memories.content,
    memories.slot, memories.about, memories.importance, memories.confidence, memories.source,
    memories.turn_id, memories.conversation_id, memories.quote, memories.valid_from,
    memories.valid_from_precision, memories.valid_to, memories.recorded_at, memories.expires_at,
    memories.provenance, memories.merged_from, memories.curated_at, memories.retracted_at,
    memories.last_confirmed_at, memories.merged_into, memories.pinned_at, alike.embedding
FROM lineages
JOIN memories ON memories.subject = lineages.subject
    AND memories.lineage_id = lineages.lineage_id
LEFT JOIN alike ON alike.place = lineages.place AND alike.memory_id = memories.memory_id
ORDER BY lineages.place, memories.lineage_id, memories.valid_from, memories.memory_id;

-- name: select_suppressed
-- For each question: the keys that it names under which a person deleted or corrected something, and
-- when last.
SELECT named.place, suppressions.key, suppressions.suppressed_at
FROM unnest(%(places)b::integer[], %(subjects)b::uuid[], %(keys)b::bytea[])
    AS named (place, subject, key)
JOIN suppressions ON suppressions.subject = named.subject AND suppressions.key = named.key;
