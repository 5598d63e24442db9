-- Another memory's table and its search, in the shape in which mem0 keeps them on pgvector.

-- name: see_every_subject_from_now_on
-- Let this session read the rows of every subject.
SELECT set_config('memledger.every_subject', 'yes', false);

-- name: create_peer_table
-- Make the table: what it is searched by, and everything else as one document.
CREATE TABLE exact_peer (id uuid PRIMARY KEY, vector vector, payload jsonb);

-- name: fill_peer_table
-- Give it the memories of the read model, in the order in which they came.
INSERT INTO exact_peer (id, vector, payload)
SELECT
    memory_id, embedding::vector,
    jsonb_build_object(
        'user_id', subject, 'data', content, 'text_lemmatized', content, 'hash', md5(content),
        'created_at', recorded_at, 'updated_at', recorded_at
    )
FROM memories
ORDER BY valid_from, memory_id;

-- name: vacuum_peer_table
-- Let the planner know the table.
VACUUM ANALYZE exact_peer;

-- name: search_peer_table
-- Return the memories of a user that are nearest to a vector.
SELECT id, vector <=> %(vector)s::vector AS distance, payload
FROM exact_peer
WHERE payload ->> 'user_id' = %(user_id)s
ORDER BY distance
LIMIT %(limit)s;
