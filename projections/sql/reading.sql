-- The frame of a read of one subject's rows.

-- name: begin_reading
-- Begin a transaction that may not write; the naming of the subject ends with it.
BEGIN READ ONLY;

-- name: begin_reading_one_state
-- Begin one whose statements all see the tables as the first of them does.
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;

-- name: end_reading
-- End it.
COMMIT;
