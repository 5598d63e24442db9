-- What a read model says of itself.

-- name: select_migrations
-- Return the numbers of the migrations that made the tables.
SELECT number FROM schema_migrations ORDER BY number;

-- name: record_embedder
-- Record what the vectors are made with, unless that is recorded already.
INSERT INTO read_model (embedder, dimension) VALUES (%(embedder)s, %(dimension)s)
ON CONFLICT (only_row) DO NOTHING;

-- name: select_embedder
-- Return what the vectors are made with.
SELECT embedder, dimension FROM read_model;

-- name: record_canary
-- Record the vector of the fixed sentence, and what the model called itself, unless that is done.
UPDATE read_model SET canary = (%(vectors)b::halfvec[])[1], canary_model = %(model)s
WHERE canary IS NULL;

-- name: select_canary
-- Return both.
SELECT canary, canary_model FROM read_model WHERE canary IS NOT NULL;

-- name: discard_canary
-- Forget both: they were recorded of another model than the memories' vectors are of.
UPDATE read_model SET canary = NULL, canary_model = NULL;

-- name: select_witnesses
-- Return some memories whose vectors came with them out of the log, from among the first rows.
SELECT subject, content, embedding
FROM (SELECT subject, content, embedding, vector_made_at FROM memories LIMIT 1000) AS first
WHERE embedding IS NOT NULL AND vector_made_at IS NULL
LIMIT %(limit)s;

-- name: name_subjects
-- Let this transaction see and write the rows of these subjects, which come as an array's text.
SELECT set_config('memledger.subjects', %(subjects)s, true);

-- name: name_tenants
-- Let this transaction see what is kept for these tenants as a whole, and write what they spent.
SELECT set_config('memledger.tenants', (%(tenants)b::text[])::text, true);

-- name: name_every_subject
-- Let this transaction see the rows of every subject: for audits.
SELECT set_config('memledger.every_subject', 'yes', true);

-- name: count_waiting
-- Count the memories that wait for a vector, up to a bound.
SELECT count(*)
FROM (
    SELECT FROM memories WHERE embedding IS NULL AND retracted_at IS NULL LIMIT %(limit)s
) AS waiting;

-- name: ping
-- Find out whether the database answers and has the tables that questions read; reads no row.
SELECT
FROM read_model, positions, open_turns, turns, memories, waiting_turns, flags, spending,
    rejections, suppressions, session_summaries, summary_sources, forgotten_sources, due_summaries
LIMIT 0;
