-- What a bench asks the read model.

-- name: select_progress
-- Return how many turns are open, and up to which offset each partition of a topic was read.
SELECT
    (SELECT count(*) FROM open_turns) AS open_turns,
    coalesce(
        (SELECT jsonb_object_agg(partition, next_offset) FROM positions WHERE topic = %(topic)s), '{}'
    ) AS positions;

-- name: vacuum_memories
-- Let the planner know the table, and index scans skip it.
VACUUM ANALYZE memories;

-- name: make_vectors_later
-- Count vectors that come from now on as made later: drawn by lot, they are none of the embedder's, and
-- by those of the log the gateway sees whether it serves another model.
ALTER TABLE memories ALTER COLUMN vector_made_at SET DEFAULT now();

-- name: select_relation_bytes
-- Return what the memories take on disk: the table, and its indexes.
SELECT pg_table_size('memories') AS table_bytes, pg_indexes_size('memories') AS index_bytes;

-- name: see_every_subject
-- Let this transaction see the rows of every subject.
SELECT set_config('memledger.every_subject', 'yes', true);

-- name: count_not_stored
-- Return how many turns were closed and did not become a memory.
SELECT count(*) FROM turns WHERE closing <> 'stored';
