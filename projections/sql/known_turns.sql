-- name: select_known_turns
-- Those of some turns that the named subjects have.
SELECT turns.subject, turns.turn_id
FROM unnest(%(subjects)s::uuid[], %(turn_ids)s::uuid[]) AS asked (subject, turn_id)
JOIN turns ON turns.subject = asked.subject AND turns.turn_id = asked.turn_id;

-- name: count_closings
-- How those of some turns that are closed did.
SELECT turns.closing, count(*)
FROM unnest(%(subjects)s::uuid[], %(turn_ids)s::uuid[]) AS asked (subject, turn_id)
JOIN turns ON turns.subject = asked.subject AND turns.turn_id = asked.turn_id
WHERE turns.closing IS NOT NULL
GROUP BY turns.closing;
