-- A retracted memory never gets a vector. In the index of what waits it would stand for ever, before
-- all that is due later, and every look for what is due would read it.
DROP INDEX memories_without_vector;
CREATE INDEX memories_without_vector
    ON memories (coalesce(vector_due_at, '-infinity'::timestamptz))
    WHERE embedding IS NULL AND retracted_at IS NULL;
