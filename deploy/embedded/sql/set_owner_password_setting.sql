-- Parameter: the password (or its SCRAM verifier) that prepare_owner_role.sql is to set.
SELECT pg_catalog.set_config('memledger_setup.owner_password', %s, false);
