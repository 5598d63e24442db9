-- The keyring: who is which subject, and the wrapped keys. No user id is in the clear in any column.

CREATE TABLE key_checks (
    -- What tells that the key directory belongs to this database, where no wrapped key would.
    name text PRIMARY KEY,
    digest bytea NOT NULL
);

CREATE TABLE tenants (
    tenant_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    name text NOT NULL UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE api_keys (
    key_id text PRIMARY KEY,
    -- SHA-256 of the secret: it has 256 random bits, so a slow hash would add nothing.
    digest bytea NOT NULL,
    tenant_id uuid NOT NULL REFERENCES tenants,
    created_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz
);

CREATE TABLE buckets (
    bucket_id smallint PRIMARY KEY CHECK (bucket_id BETWEEN 0 AND 1023),
    -- The epoch key that wraps the bucket's key.
    epoch integer NOT NULL CHECK (epoch > 0),
    -- Counts the bucket's keys: nothing may be wrapped under one that was replaced meanwhile.
    key_version integer NOT NULL CHECK (key_version > 0),
    wrapped bytea NOT NULL
);

CREATE TABLE subjects (
    subject uuid PRIMARY KEY,
    -- NULL for the system's own subject, which belongs to no tenant.
    tenant_id uuid REFERENCES tenants,
    -- HMAC-SHA256 of tenant and user id under the index key; NULL once the subject is destroyed.
    user_index bytea,
    -- The user id under a key of the subject, so that it dies with it.
    user_sealed bytea,
    -- The subject's keys under its bucket's key; NULL once they are destroyed.
    wrapped bytea,
    bucket_id smallint NOT NULL REFERENCES buckets,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- A living user is found and named; of a destroyed one nothing is left that could do either.
    CHECK ((user_index IS NOT NULL) = (wrapped IS NOT NULL AND tenant_id IS NOT NULL)),
    CHECK ((user_sealed IS NOT NULL) = (wrapped IS NOT NULL AND tenant_id IS NOT NULL))
);

-- A user has one living subject; one who comes back after an erasure gets a new one.
CREATE UNIQUE INDEX subjects_living ON subjects (tenant_id, user_index) WHERE wrapped IS NOT NULL;
CREATE UNIQUE INDEX subjects_system ON subjects ((true)) WHERE tenant_id IS NULL;
CREATE INDEX subjects_of_bucket ON subjects (bucket_id) WHERE wrapped IS NOT NULL;

CREATE TABLE destructions (
    -- In the order of commit, which a sequence would not keep: a reader that has seen one number
    -- has seen every lower one.
    seq bigint PRIMARY KEY CHECK (seq > 0),
    subject uuid NOT NULL,
    -- subject: everything of it; seeds: some of its keys, the subject lives on.
    kind text NOT NULL CHECK (kind IN ('subject', 'seeds')),
    -- The offset in the control topic that asked for it; NULL where none did.
    control_position bigint,
    destroyed_at timestamptz NOT NULL DEFAULT now()
);

CREATE UNIQUE INDEX destructions_of_subject ON destructions (subject) WHERE kind = 'subject';

CREATE TABLE applied (
    -- One row: destructions asked for in the control topic at or below this offset are applied.
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    control_position bigint NOT NULL
);
