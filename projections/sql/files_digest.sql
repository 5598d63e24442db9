-- Reading the rows of files whole, to compare them with a fold of the log.

-- name: select_subjects
-- Return every subject that has rows.
SELECT subject FROM files
UNION SELECT subject FROM file_results
UNION SELECT subject FROM file_history;

-- name: select_files
-- Return every column of some subjects' files.
SELECT subject, file_id, path, content, version, created_at, changed_at
FROM files
WHERE subject = ANY (%(subjects)b::uuid[]);

-- name: select_results
-- Return what some subjects' commands are answered with.
SELECT subject, command_id, log_offset, is_error, content
FROM file_results
WHERE subject = ANY (%(subjects)b::uuid[]);

-- name: select_history
-- Return what became of some subjects' files.
SELECT
    subject, command_id, place, log_offset, file_id, version, kind, path, old_path, content,
    happened_at
FROM file_history
WHERE subject = ANY (%(subjects)b::uuid[]);
