-- name: select_known_turns
-- Those of some turns that the named subject has.
SELECT turn_id FROM turns WHERE subject = %(subject)s AND turn_id = ANY (%(turn_ids)s);
