-- What is asked of users' files.

-- name: select_result
-- Return what a command is answered with, once it was carried out.
SELECT content, is_error FROM file_results
WHERE subject = %(subject)s AND command_id = %(command_id)s;

-- name: select_file
-- Return the file at a path.
SELECT path, file_id, content, version, created_at, changed_at FROM files
WHERE subject = %(subject)s AND path = %(path)s;

-- name: select_sizes
-- Return the path and the size of every file of a subject.
SELECT path, octet_length(content) AS size_bytes FROM files WHERE subject = %(subject)s;

-- name: note_view
-- Note that a file was read now. Its row is locked, so nothing is noted of one that is being erased.
INSERT INTO file_views (subject, file_id, viewed_at)
SELECT subject, file_id, %(viewed_at)s FROM files
WHERE subject = %(subject)s AND path = %(path)s AND file_id = %(file_id)s
FOR KEY SHARE
ON CONFLICT (subject, file_id) DO UPDATE
SET viewed_at = greatest(file_views.viewed_at, excluded.viewed_at);

-- name: list_files
-- Return a page of a subject's files in order of their paths, byte by byte, without their content.
SELECT
    files.path, files.file_id, octet_length(files.content) AS size_bytes, files.version,
    files.created_at, files.changed_at, file_views.viewed_at
FROM files
LEFT JOIN file_views
    ON file_views.subject = files.subject AND file_views.file_id = files.file_id
WHERE
    files.subject = %(subject)s
    AND (%(after)s::text IS NULL OR files.path COLLATE "C" > %(after)s::text)
    AND (
        %(unread_since)s::timestamptz IS NULL
        OR greatest(files.changed_at, file_views.viewed_at) < %(unread_since)s::timestamptz
    )
ORDER BY files.path COLLATE "C"
LIMIT %(limit)s;

-- name: read_files
-- Return some of a subject's files with their content, in order of their ids, which no rename changes.
SELECT
    files.path, files.file_id, octet_length(files.content) AS size_bytes, files.version,
    files.created_at, files.changed_at, file_views.viewed_at, files.content
FROM files
LEFT JOIN file_views
    ON file_views.subject = files.subject AND file_views.file_id = files.file_id
WHERE
    files.subject = %(subject)s
    AND (%(after)s::uuid IS NULL OR files.file_id > %(after)s::uuid)
ORDER BY files.file_id
LIMIT %(limit)s;

-- name: list_history
-- Return a page of what became of a subject's files, the latest first.
SELECT
    log_offset, place, command_id, file_id, version, kind, path, old_path, happened_at,
    -- Counted when it was written: content is long, and lies outside the row.
    CASE WHEN content IS NOT NULL THEN characters END AS characters
FROM file_history
WHERE
    subject = %(subject)s
    AND (
        %(path)s::text IS NULL
        -- Also what a file went through under other names.
        OR file_id IN (
            SELECT named.file_id FROM file_history AS named
            WHERE named.subject = %(subject)s AND named.path = %(path)s::text
        )
    )
    AND (
        %(before_offset)s::bigint IS NULL
        OR (log_offset, place) < (%(before_offset)s::bigint, %(before_place)s::integer)
    )
ORDER BY log_offset DESC, place DESC
LIMIT %(limit)s;

-- name: select_version
-- Return what a version held of the file that lay at a path last.
SELECT kept.content FROM file_history AS kept
WHERE
    kept.subject = %(subject)s
    AND kept.version <= %(version)s
    AND kept.content IS NOT NULL
    AND kept.file_id = (
        SELECT named.file_id FROM file_history AS named
        WHERE named.subject = %(subject)s AND named.path = %(path)s
        ORDER BY named.log_offset DESC, named.place DESC
        LIMIT 1
    )
    AND EXISTS (
        SELECT FROM file_history AS told
        WHERE
            told.subject = kept.subject AND told.file_id = kept.file_id
            AND told.version = %(version)s AND told.kind <> 'deleted'
    )
ORDER BY kept.version DESC
LIMIT 1;
