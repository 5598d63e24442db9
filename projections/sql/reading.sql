-- The frame of a read of one subject's rows.

-- name: begin_reading_one_state
-- Begin a transaction that may not write, whose statements all see the tables as the first does; the
-- naming of the subject ends with it.
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;

-- name: end_reading
-- End it.
COMMIT;
