-- Finding the conversations that have gone quiet: by when their turns were accepted, page by page, and
-- for each whether a later turn waits. What is counted by partition is read from the first, too.
CREATE INDEX waiting_turns_quiet
    ON waiting_turns (partition, received_at, subject, conversation_id COLLATE "C");
CREATE INDEX waiting_turns_conversation ON waiting_turns (subject, conversation_id, turn_offset);
DROP INDEX waiting_turns_partition;
