-- The role that owns memledger's databases. It is no superuser, so that row-level security binds it.
-- Its password comes through a setting of the session, since a DO block takes no parameters.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'memledger') THEN
        CREATE ROLE memledger LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;
    END IF;
    EXECUTE format(
        'ALTER ROLE memledger PASSWORD %L', current_setting('memledger_setup.owner_password')
    );
END
$$;
