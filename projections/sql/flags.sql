-- The flag queue. Every statement names its tenant; row-level security is the second wall. A flag
-- that only a decision speaks of has no flagged_at, and is nobody's to see.

-- name: select_flag
-- Return a flag of one of a tenant's users.
SELECT
    flag_id, subject, state, reasons, proposed::text AS proposed, turn_id, conversation_id, said_at,
    utc_offset_minutes, flagged_at, actor, reason, decided_at, decided_by_turn
FROM flags
WHERE flag_id = %(flag_id)s AND tenant = %(tenant)s AND flagged_at IS NOT NULL;

-- name: list_open
-- Return a page of what waits for a decision, the longest waiting first.
SELECT
    flag_id, subject, state, reasons, proposed::text AS proposed, turn_id, conversation_id, said_at,
    utc_offset_minutes, flagged_at, actor, reason, decided_at, decided_by_turn
FROM flags
WHERE tenant = %(tenant)s
    AND state = %(state)s
    AND flagged_at IS NOT NULL
    AND (%(subject)s::uuid IS NULL OR subject = %(subject)s::uuid)
    AND (
        %(after_flag_id)s::uuid IS NULL
        OR (flagged_at, flag_id) > (%(after_flagged_at)s::timestamptz, %(after_flag_id)s::uuid)
    )
ORDER BY flagged_at, flag_id
LIMIT %(limit)s;

-- name: list_decided
-- Return a page of what was decided in one way, the latest flagged first.
SELECT
    flag_id, subject, state, reasons, proposed::text AS proposed, turn_id, conversation_id, said_at,
    utc_offset_minutes, flagged_at, actor, reason, decided_at, decided_by_turn
FROM flags
WHERE tenant = %(tenant)s
    AND state = %(state)s
    AND flagged_at IS NOT NULL
    AND (%(subject)s::uuid IS NULL OR subject = %(subject)s::uuid)
    AND (
        %(after_flag_id)s::uuid IS NULL
        OR (flagged_at, flag_id) < (%(after_flagged_at)s::timestamptz, %(after_flag_id)s::uuid)
    )
ORDER BY flagged_at DESC, flag_id DESC
LIMIT %(limit)s;
