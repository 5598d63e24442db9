-- The keyring: a system of record, backed up apart from the read model.
CREATE DATABASE memledger_keyring OWNER memledger;
