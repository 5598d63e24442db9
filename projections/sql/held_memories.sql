-- What a person decides about.

-- name: select_held
-- Return a version of one subject as a decision about it carries it.
SELECT
    memory_id, lineage_id, kind, slot, about, content, importance, valid_from, valid_from_precision,
    turn_id, quote
FROM memories
WHERE subject = %(subject)s AND memory_id = %(memory_id)s;
