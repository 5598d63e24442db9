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

-- name: name_subjects
-- Let this transaction see and write the rows of these subjects, which come as an array's text.
SELECT set_config('memledger.subjects', %(subjects)s, true);

-- name: name_every_subject
-- Let this transaction see the rows of every subject: for audits.
SELECT set_config('memledger.every_subject', 'yes', true);

-- name: ping
-- Find out whether the database answers.
SELECT 1;
