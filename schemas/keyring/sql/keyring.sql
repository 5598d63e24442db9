-- The keyring's statements.

-- name: lock_setup
-- Let one process at a time make the keyring's keys; held until the transaction ends.
SELECT pg_advisory_xact_lock(hashtextextended('memledger keyring setup', 0));

-- name: count_buckets
-- Count the buckets: none before the keyring was made.
SELECT count(*) FROM buckets;

-- name: select_buckets
-- List every bucket with its wrapped key.
SELECT bucket_id, epoch, key_version, wrapped FROM buckets ORDER BY bucket_id;

-- name: insert_buckets
-- Store the buckets of a new keyring.
INSERT INTO buckets (bucket_id, epoch, key_version, wrapped)
SELECT * FROM unnest(
    %(bucket_ids)s::smallint[], %(epochs)s::integer[], %(key_versions)s::integer[],
    %(wrapped)s::bytea[]
);

-- name: insert_key_check
-- Store what the key of that name must answer.
INSERT INTO key_checks (name, digest) VALUES (%(name)s, %(digest)s);

-- name: select_key_check
-- Read what the key of that name must answer.
SELECT digest FROM key_checks WHERE name = %(name)s;

-- name: insert_tenant
-- Make a tenant, if it is not there yet.
INSERT INTO tenants (name) VALUES (%(name)s) ON CONFLICT (name) DO NOTHING;

-- name: select_tenant
-- Find a tenant by its name.
SELECT tenant_id FROM tenants WHERE name = %(name)s;

-- name: insert_api_key
-- Store a new API key of a tenant.
INSERT INTO api_keys (key_id, digest, tenant_id)
VALUES (%(key_id)s, %(digest)s, %(tenant_id)s);

-- name: revoke_api_key
-- Refuse an API key from now on; returns it if it was valid.
UPDATE api_keys SET revoked_at = now()
WHERE key_id = %(key_id)s AND revoked_at IS NULL
RETURNING key_id;

-- name: select_api_key
-- Find a valid API key with its tenant's name.
SELECT a.digest, t.name
FROM api_keys a JOIN tenants t USING (tenant_id)
WHERE a.key_id = %(key_id)s AND a.revoked_at IS NULL;

-- name: select_api_key_ids
-- List the valid API keys of a tenant, the oldest first.
SELECT key_id FROM api_keys
WHERE tenant_id = %(tenant_id)s AND revoked_at IS NULL
ORDER BY created_at, key_id;

-- name: select_users
-- Find the living subjects of a tenant's users, with the end of the feed of the same snapshot.
SELECT s.user_index, s.subject, s.wrapped, b.bucket_id, b.epoch, b.key_version, b.wrapped,
    coalesce(p.paused, false), (SELECT coalesce(max(seq), 0) FROM feed)
FROM subjects s JOIN buckets b USING (bucket_id) LEFT JOIN pauses p USING (subject)
WHERE s.tenant_id = %(tenant_id)s AND s.user_index = ANY (%(indexes)s::bytea[])
    AND s.wrapped IS NOT NULL;

-- name: select_subjects
-- Find subjects, living, destroyed or unknown, with the end of the feed of the same snapshot.
SELECT w.subject, s.wrapped, b.bucket_id, b.epoch, b.key_version, b.wrapped,
    t.name, s.user_sealed, coalesce(p.paused, false), d.seq, d.destroyed_at,
    (SELECT coalesce(max(seq), 0) FROM feed)
FROM unnest(%(subjects)s::uuid[]) AS w (subject)
LEFT JOIN subjects s ON s.subject = w.subject
LEFT JOIN buckets b ON b.bucket_id = s.bucket_id
LEFT JOIN tenants t ON t.tenant_id = s.tenant_id
LEFT JOIN pauses p ON p.subject = w.subject
LEFT JOIN destructions d ON d.subject = w.subject AND d.kind = 'subject';

-- name: insert_subjects
-- Store new subjects unless their user has a living one, or their bucket has a new key meanwhile.
-- One order of insertion for all: two batches with users in common would deadlock otherwise.
INSERT INTO subjects (subject, tenant_id, user_index, user_sealed, wrapped, bucket_id)
SELECT n.subject, %(tenant_id)s, n.user_index, n.user_sealed, n.wrapped, n.bucket_id
FROM unnest(
    %(subjects)s::uuid[], %(indexes)s::bytea[], %(users_sealed)s::bytea[], %(wrapped)s::bytea[],
    %(bucket_ids)s::smallint[], %(key_versions)s::integer[]
) AS n (subject, user_index, user_sealed, wrapped, bucket_id, key_version)
JOIN buckets b ON b.bucket_id = n.bucket_id AND b.key_version = n.key_version
ORDER BY n.user_index
ON CONFLICT (tenant_id, user_index) WHERE wrapped IS NOT NULL DO NOTHING
RETURNING subject, (SELECT coalesce(max(seq), 0) FROM feed);

-- name: insert_system_subject
-- Store the system's own subject, unless it is there or its bucket has a new key meanwhile.
INSERT INTO subjects (subject, wrapped, bucket_id)
SELECT %(subject)s, %(wrapped)s, b.bucket_id
FROM buckets b WHERE b.bucket_id = %(bucket_id)s AND b.key_version = %(key_version)s
ON CONFLICT ((true)) WHERE tenant_id IS NULL DO NOTHING;

-- name: select_system_subject
-- Find the system's own subject.
SELECT subject FROM subjects WHERE tenant_id IS NULL;

-- name: lock_feed
-- Let one entry of the feed at a time commit, so that their numbers follow the order of commit.
SELECT pg_advisory_xact_lock(hashtextextended('memledger keyring destructions', 0));

-- name: insert_destruction
-- Record that a subject is destroyed, once; the lock must be held since an earlier statement.
INSERT INTO destructions (seq, subject, kind, control_position)
SELECT coalesce(max(seq), 0) + 1, %(subject)s, 'subject', %(control_position)s FROM feed
ON CONFLICT (subject) WHERE kind = 'subject' DO NOTHING;

-- name: select_destruction
-- Find the record of a subject's destruction.
SELECT seq FROM destructions WHERE subject = %(subject)s AND kind = 'subject';

-- name: wipe_subject
-- Leave of a subject's row only that it was there.
UPDATE subjects SET wrapped = NULL, user_index = NULL, user_sealed = NULL
WHERE subject = %(subject)s;

-- name: wipe_pause
-- Forget that a subject ever paused; the number of its destruction is the higher one by now.
DELETE FROM pauses WHERE subject = %(subject)s;

-- name: set_pause
-- Pause or resume a living subject, where that changes something; the lock must be held since an
-- earlier statement.
INSERT INTO pauses (subject, paused, seq)
SELECT s.subject, %(paused)s, (SELECT coalesce(max(seq), 0) + 1 FROM feed)
FROM subjects s
WHERE s.subject = %(subject)s AND s.wrapped IS NOT NULL
    AND (%(paused)s OR EXISTS (SELECT FROM pauses p WHERE p.subject = s.subject))
ON CONFLICT (subject) DO UPDATE
SET paused = EXCLUDED.paused, seq = EXCLUDED.seq, changed_at = now()
WHERE pauses.paused <> EXCLUDED.paused;

-- name: select_pause
-- Read whether a living subject has paused, and since when.
SELECT coalesce(p.paused, false), CASE WHEN p.paused THEN p.changed_at END
FROM subjects s LEFT JOIN pauses p USING (subject)
WHERE s.subject = %(subject)s AND s.wrapped IS NOT NULL;

-- name: select_feed
-- Read the entries of the feed after one that was seen; one row at least, with the last there is.
SELECT h.head, f.seq, f.subject, f.kind
FROM (SELECT coalesce(max(seq), 0) AS head FROM feed) h
LEFT JOIN feed f ON f.seq > %(after)s
ORDER BY f.seq;

-- name: select_erased
-- Find which of the subjects are recorded as destroyed.
SELECT subject FROM destructions WHERE subject = ANY (%(subjects)s::uuid[]) AND kind = 'subject';

-- name: select_applied
-- Read the control offset up to which destructions are applied.
SELECT control_position FROM applied;

-- name: advance_applied
-- Move the control offset up to which destructions are applied; never back.
INSERT INTO applied (control_position) VALUES (%(control_position)s)
ON CONFLICT (only_row) DO UPDATE
SET control_position = greatest(applied.control_position, EXCLUDED.control_position);
