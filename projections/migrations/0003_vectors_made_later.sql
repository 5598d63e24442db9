-- Vectors that the log does not hold: made beside the turns, after the embedder had failed.

-- When the vector was made; NULL where it came with the memory out of the log, or where there is none.
ALTER TABLE memories ADD COLUMN vector_made_at timestamptz;
-- How often it was tried, when it is due again (NULL: now), and why there is none.
ALTER TABLE memories ADD COLUMN vector_attempts integer;
ALTER TABLE memories ADD COLUMN vector_due_at timestamptz;
ALTER TABLE memories ADD COLUMN vector_fault text;

-- What waits for a vector, the longest due first. Rows with one cost nothing here.
CREATE INDEX memories_without_vector
    ON memories (coalesce(vector_due_at, '-infinity'::timestamptz))
    WHERE embedding IS NULL;

-- The vector of a fixed sentence under the model that made the vectors, and what that model called
-- itself, if it said so: by these a process finds out that another model answers under its name.
ALTER TABLE read_model ADD COLUMN canary halfvec({dimension});
ALTER TABLE read_model ADD COLUMN canary_model text;
