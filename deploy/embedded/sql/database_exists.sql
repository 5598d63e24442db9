-- Parameter: the database's name.
SELECT EXISTS (SELECT FROM pg_catalog.pg_database WHERE datname = %s);
