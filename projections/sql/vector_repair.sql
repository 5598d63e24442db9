-- Making the vectors that memories lack. A retracted memory needs none.

-- name: plan_by_order
-- Let this transaction read what waits in the order of its index, and stop: the planner takes the
-- rows that one may see for few, and would sort all that waits, which may be a whole read model.
SELECT set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true);

-- name: find_due
-- Return memories whose vector is due, of whatever subject; the caller may see all of them.
SELECT subject, memory_id
FROM memories
WHERE embedding IS NULL
    AND retracted_at IS NULL
    AND coalesce(vector_due_at, '-infinity'::timestamptz) <= now()
ORDER BY coalesce(vector_due_at, '-infinity'::timestamptz)
LIMIT %(limit)s;

-- name: claim
-- Take memories whose vector is due, for as long as the lease lasts: no other process tries before.
-- A text at which processes die is due later each time. What is locked is in other hands and left alone: nobody who waits here holds a lock.
WITH due AS (
    SELECT memories.subject, memories.memory_id
    FROM memories
    JOIN unnest(%(subjects)b::uuid[], %(memory_ids)b::uuid[]) AS listed (subject, memory_id)
        ON memories.subject = listed.subject AND memories.memory_id = listed.memory_id
    WHERE memories.embedding IS NULL
        AND memories.retracted_at IS NULL
        AND coalesce(memories.vector_due_at, '-infinity'::timestamptz) <= now()
    FOR UPDATE OF memories SKIP LOCKED
)
UPDATE memories
SET
    vector_attempts = coalesce(memories.vector_attempts, 0) + 1,
    vector_due_at = now() + make_interval(
        secs => greatest(
            %(lease_s)s,
            least(
                %(backoff_first_s)s * 2.0 ^ least(coalesce(memories.vector_attempts, 0), 30),
                %(backoff_max_s)s
            )
        )
    )
FROM due
WHERE memories.subject = due.subject AND memories.memory_id = due.memory_id
RETURNING memories.subject, memories.memory_id, memories.content, memories.vector_due_at;

-- name: fill
-- Give memories the vectors that were made for them, unless they are gone, retracted, have one, or
-- were taken by another process since.
WITH lacking AS (
    SELECT memories.subject, memories.memory_id, listed.vector
    FROM memories
    JOIN unnest(
        %(subjects)b::uuid[],
        %(memory_ids)b::uuid[],
        %(due_at)b::timestamptz[],
        %(vectors)b::halfvec[]
    ) AS listed (subject, memory_id, due_at, vector)
        ON memories.subject = listed.subject AND memories.memory_id = listed.memory_id
    WHERE memories.embedding IS NULL
        AND memories.retracted_at IS NULL
        AND memories.vector_due_at = listed.due_at
    FOR UPDATE OF memories SKIP LOCKED
)
UPDATE memories
SET
    embedding = lacking.vector,
    embedding_model = %(model)s,
    vector_made_at = now(),
    vector_attempts = NULL,
    vector_due_at = NULL,
    vector_fault = NULL
FROM lacking
WHERE memories.subject = lacking.subject AND memories.memory_id = lacking.memory_id;

-- name: note_faults
-- Note why memories have no vector yet, and when each is due again. One that was not tried is put back
-- as if nobody had taken it; one that another process took since is that process's.
WITH lacking AS (
    SELECT memories.subject, memories.memory_id, listed.fault, listed.tried
    FROM memories
    JOIN unnest(
        %(subjects)b::uuid[],
        %(memory_ids)b::uuid[],
        %(due_at)b::timestamptz[],
        %(faults)b::text[],
        %(tried)b::boolean[]
    ) AS listed (subject, memory_id, due_at, fault, tried)
        ON memories.subject = listed.subject AND memories.memory_id = listed.memory_id
    WHERE memories.embedding IS NULL AND memories.vector_due_at = listed.due_at
    FOR UPDATE OF memories SKIP LOCKED
)
UPDATE memories
SET
    vector_fault = lacking.fault,
    vector_attempts = CASE
        WHEN lacking.tried THEN memories.vector_attempts ELSE memories.vector_attempts - 1
    END,
    vector_due_at = CASE
        WHEN lacking.tried THEN now() + make_interval(
            secs => least(
                %(backoff_first_s)s * 2.0 ^ least(memories.vector_attempts - 1, 30),
                %(backoff_max_s)s
            )
        )
    END
FROM lacking
WHERE memories.subject = lacking.subject AND memories.memory_id = lacking.memory_id;
