-- Summaries of chat sessions, each made from its own turns and gone with any of them.

-- The turn's conversation, as its outcome tells it; NULL for what is no turn, while the turn is open,
-- and for turns whose outcomes are of an earlier release, which do not tell it.
ALTER TABLE turns ADD COLUMN conversation_id text;
CREATE INDEX turns_conversation ON turns (subject, conversation_id, turn_offset)
    WHERE conversation_id IS NOT NULL;

CREATE TABLE session_summaries (
    -- What the end of a session came to: a summary, or why there is none.
    subject uuid NOT NULL,
    record_id uuid NOT NULL,
    partition integer NOT NULL,
    conversation_id text NOT NULL,
    -- Where the end of the session stands in the turns topic.
    turn_offset bigint NOT NULL,
    summary text,
    reason text,
    -- The turns that it tells of; none where it only tells why there is no summary.
    turn_ids uuid[] NOT NULL,
    refused jsonb NOT NULL,
    cut integer NOT NULL,
    shortened integer NOT NULL,
    more boolean NOT NULL,
    first_said_at timestamptz,
    last_said_at timestamptz,
    extractor text,
    model text,
    prompt_hash text,
    made_at timestamptz NOT NULL,
    PRIMARY KEY (subject, record_id)
);

CREATE INDEX session_summaries_newest ON session_summaries (subject, turn_offset);
CREATE INDEX session_summaries_conversation
    ON session_summaries (subject, conversation_id, turn_offset);

CREATE TABLE summary_sources (
    -- What must stand for a summary to stand, by the ids that the log knows it by: its turns, the end of
    -- the session, and the outcomes of either.
    subject uuid NOT NULL,
    source_id uuid NOT NULL,
    record_id uuid NOT NULL,
    PRIMARY KEY (subject, source_id)
);

-- What a tombstone names without telling whose it was is looked for in all.
CREATE INDEX summary_sources_by_id ON summary_sources (source_id);
CREATE INDEX summary_sources_record ON summary_sources (subject, record_id);

CREATE TABLE forgotten_sources (
    -- Turns, and outcomes, of which no summary tells any more: a record is gone, or a memory of it was
    -- deleted. Topics are read independently of each other, so the summary may come later. It names no
    -- subject.
    source_id uuid PRIMARY KEY
);

CREATE TABLE due_summaries (
    -- Conversations whose summary a worker has to have made again. No word of it stands in the log, so no
    -- digest looks here.
    subject uuid NOT NULL,
    conversation_id text NOT NULL,
    partition integer NOT NULL,
    -- What made it due last, by which one cause is told from the next; and how often it was tried since.
    mark uuid NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    PRIMARY KEY (subject, conversation_id)
);

CREATE INDEX due_summaries_partition
    ON due_summaries (partition, subject, conversation_id COLLATE "C");

ALTER TABLE session_summaries ENABLE ROW LEVEL SECURITY;
ALTER TABLE session_summaries FORCE ROW LEVEL SECURITY;
CREATE POLICY session_summaries_of_named_subjects ON session_summaries USING (
    subject = ANY (
        (SELECT NULLIF(current_setting('memledger.subjects', true), '')::uuid[])::uuid[]
    )
);
CREATE POLICY session_summaries_of_every_subject ON session_summaries FOR SELECT USING (
    (SELECT current_setting('memledger.every_subject', true)) = 'yes'
);

ALTER TABLE summary_sources ENABLE ROW LEVEL SECURITY;
ALTER TABLE summary_sources FORCE ROW LEVEL SECURITY;
CREATE POLICY summary_sources_of_named_subjects ON summary_sources USING (
    subject = ANY (
        (SELECT NULLIF(current_setting('memledger.subjects', true), '')::uuid[])::uuid[]
    )
);
CREATE POLICY summary_sources_of_every_subject ON summary_sources FOR SELECT USING (
    (SELECT current_setting('memledger.every_subject', true)) = 'yes'
);

ALTER TABLE due_summaries ENABLE ROW LEVEL SECURITY;
ALTER TABLE due_summaries FORCE ROW LEVEL SECURITY;
CREATE POLICY due_summaries_of_named_subjects ON due_summaries USING (
    subject = ANY (
        (SELECT NULLIF(current_setting('memledger.subjects', true), '')::uuid[])::uuid[]
    )
);
CREATE POLICY due_summaries_of_every_subject ON due_summaries FOR SELECT USING (
    (SELECT current_setting('memledger.every_subject', true)) = 'yes'
);
