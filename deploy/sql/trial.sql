-- What a trial does with its read model when the log of it is gone.

-- name: holds_read_models
-- Whether there is a read model of any generation.
SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname LIKE 'gen\_%');

-- name: drop_read_models
-- Drop the read model of every generation; projections/read_model.py names their schemas.
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT nspname FROM pg_catalog.pg_namespace WHERE nspname LIKE 'gen\_%'
    LOOP
        EXECUTE format('DROP SCHEMA %I CASCADE', name);
    END LOOP;
END
$$;
