-- The statements that every database of memledger shares: creation, migrations, roles.

-- name: database_exists
-- Tell whether a database of that name is in the cluster.
SELECT EXISTS (SELECT FROM pg_database WHERE datname = %(name)s);

-- name: create_database
-- Make an empty database whose text is UTF-8, whatever the cluster's default is.
CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8';

-- name: limit_lock_wait
-- Give up on a lock that another process holds for this long.
SELECT set_config('lock_timeout', %(milliseconds)s || 'ms', false);

-- name: lock_structure
-- Wait until no other session of this database changes its structure; held until the session ends.
SELECT pg_advisory_lock(hashtextextended('memledger structure', 0));

-- name: create_schema
-- Make the schema that the tables live in, if it is not there yet.
CREATE SCHEMA IF NOT EXISTS {schema};

-- name: set_search_path
-- Look for tables in the schema, and for what extensions brought in public.
SET search_path TO {schema}, public;

-- name: create_schema_migrations
-- Make the record of the migrations that were applied, if it is not there yet.
CREATE TABLE IF NOT EXISTS schema_migrations (
    number integer PRIMARY KEY,
    name text NOT NULL,
    sha256 text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);

-- name: select_schema_migrations
-- List the migrations that were applied, in order.
SELECT number, name, sha256 FROM schema_migrations ORDER BY number;

-- name: insert_schema_migration
-- Record one migration as applied; the same transaction applies it.
INSERT INTO schema_migrations (number, name, sha256) VALUES (%(number)s, %(name)s, %(sha256)s);

-- name: login_passes_row_security
-- Tell whether row-level security does not hold for the login.
SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = session_user;

-- name: create_application_role
-- Make the role for which row-level security holds; another session may have made it just now.
DO $$
BEGIN
    CREATE ROLE memledger_app NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;
END
$$;

-- name: grant_application_role
-- Let the login act as the application role.
GRANT memledger_app TO CURRENT_USER;

-- name: grant_schema_to_application_role
-- Let the application role use the schema's tables, those of today and those of later migrations.
GRANT USAGE ON SCHEMA {schema} TO memledger_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO memledger_app;
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO memledger_app;
ALTER DEFAULT PRIVILEGES IN SCHEMA {schema}
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO memledger_app;
ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT USAGE, SELECT ON SEQUENCES TO memledger_app;

-- name: become_application_role
-- Act as the role for which row-level security holds, until the session ends.
SET ROLE memledger_app;

-- name: read_only
-- Refuse every write on this session.
SET default_transaction_read_only TO on;
