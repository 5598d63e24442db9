-- Making the words of memories that an earlier release stored without.

-- name: find_wordless
-- Return subjects of memories without words; the caller may see all of them.
SELECT subject FROM memories WHERE words IS NULL LIMIT %(limit)s;

-- name: take_wordless
-- Return memories without words, and hold them. What is locked is in other hands and left alone: nobody
-- who waits here holds a lock.
SELECT subject, memory_id, content
FROM memories
WHERE subject = ANY (%(subjects)b::uuid[]) AND words IS NULL
LIMIT %(limit)s
FOR UPDATE SKIP LOCKED;

-- name: give_words
-- Give memories the words that were made for them.
UPDATE memories
SET words = listed.words
FROM unnest(%(subjects)b::uuid[], %(memory_ids)b::uuid[], %(words)b::bytea[])
    AS listed (subject, memory_id, words)
WHERE memories.subject = listed.subject AND memories.memory_id = listed.memory_id;
