-- The read model: derived from the log, can be rebuilt, is not backed up.
CREATE DATABASE memledger OWNER memledger;
