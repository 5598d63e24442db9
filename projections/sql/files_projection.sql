-- What projecting commands on files asks and writes.

-- name: select_files
-- Return the files that some subjects have, before a batch of their commands is folded.
SELECT subject, path, file_id, content, version, created_at, changed_at
FROM files
WHERE subject = ANY (%(subjects)b::uuid[]);

-- name: select_known
-- Return which of some commands were carried out already.
SELECT results.subject, results.command_id
FROM unnest(%(subjects)b::uuid[], %(command_ids)b::uuid[]) AS listed (subject, command_id)
JOIN file_results AS results
    ON results.subject = listed.subject AND results.command_id = listed.command_id;

-- name: remove_files
-- Remove files from the places where none lies any more.
DELETE FROM files
USING unnest(%(subjects)b::uuid[], %(paths)b::text[]) AS listed (subject, path)
WHERE files.subject = listed.subject AND files.path = listed.path;

-- name: write_files
-- Write files where they lie now, whatever lay there.
INSERT INTO files (subject, path, file_id, content, version, created_at, changed_at)
SELECT subject, path, file_id, content, version, created_at, changed_at
FROM unnest(
    %(subjects)b::uuid[], %(paths)b::text[], %(file_ids)b::uuid[], %(contents)b::text[],
    %(versions)b::integer[], %(created_at)b::timestamptz[], %(changed_at)b::timestamptz[]
) AS listed (subject, path, file_id, content, version, created_at, changed_at)
ON CONFLICT (subject, path) DO UPDATE
SET
    file_id = excluded.file_id,
    content = excluded.content,
    version = excluded.version,
    created_at = excluded.created_at,
    changed_at = excluded.changed_at;

-- name: write_results
-- Note what commands are answered with.
INSERT INTO file_results (subject, command_id, log_offset, is_error, content)
SELECT subject, command_id, log_offset, is_error, content
FROM unnest(
    %(subjects)b::uuid[], %(command_ids)b::uuid[], %(log_offsets)b::bigint[],
    %(are_errors)b::boolean[], %(contents)b::text[]
) AS listed (subject, command_id, log_offset, is_error, content);

-- name: write_history
-- Note what became of files.
INSERT INTO file_history (
    subject, log_offset, place, command_id, file_id, version, kind, path, old_path, content,
    characters, happened_at
)
SELECT
    subject, log_offset, place, command_id, file_id, version, kind, path, old_path, content,
    coalesce(char_length(content), 0), happened_at
FROM unnest(
    %(subjects)b::uuid[], %(log_offsets)b::bigint[], %(places)b::integer[],
    %(command_ids)b::uuid[], %(file_ids)b::uuid[], %(versions)b::integer[], %(kinds)b::text[],
    %(paths)b::text[], %(old_paths)b::text[], %(contents)b::text[],
    %(happened_at)b::timestamptz[]
) AS listed (
    subject, log_offset, place, command_id, file_id, version, kind, path, old_path, content,
    happened_at
);

-- name: shorten_history
-- Remove the oldest entries of histories that have grown too long.
DELETE FROM file_history
USING (
    SELECT
        subject, log_offset, place,
        row_number() OVER newest_first AS entries,
        sum(characters) OVER newest_first AS characters
    FROM file_history
    WHERE subject = ANY (%(subjects)b::uuid[])
    WINDOW newest_first AS (PARTITION BY subject ORDER BY log_offset DESC, place DESC)
) AS counted
WHERE
    (counted.entries > %(entries_max)s OR counted.characters > %(characters_max)s)
    AND file_history.subject = counted.subject
    AND file_history.log_offset = counted.log_offset
    AND file_history.place = counted.place;

-- name: remove_views
-- Remove what was noted of reading files that are gone.
DELETE FROM file_views
USING unnest(%(subjects)b::uuid[], %(file_ids)b::uuid[]) AS listed (subject, file_id)
WHERE
    file_views.subject = listed.subject
    AND file_views.file_id = listed.file_id;
