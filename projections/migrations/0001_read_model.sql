-- The read model of one generation: thrown away and rebuilt from the log at any time.
-- {dimension} is the dimension of the embedder that the generation is served with.

CREATE TABLE read_model (
    -- One row: what the vectors below were made with. A process with another embedder refuses to start.
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    embedder text NOT NULL,
    dimension integer NOT NULL
);

CREATE TABLE positions (
    topic text NOT NULL,
    partition integer NOT NULL,
    -- The first offset that is not applied. It moves by compare-and-set, with the rows it stands for.
    next_offset bigint NOT NULL,
    PRIMARY KEY (topic, partition)
);

CREATE TABLE partitions (
    partition integer PRIMARY KEY,
    -- The worker instance that holds the partition; a paused one finds another name here and stops.
    owner text,
    -- No open turn has a proposal below this offset of the proposals topic.
    proposals_floor bigint NOT NULL DEFAULT 0
);

CREATE TABLE open_turns (
    -- Turns that were read and not closed. It names no subject, so progress is read without one.
    partition integer NOT NULL,
    turn_offset bigint NOT NULL,
    -- The id of the outcome that will close the turn: known before there is one, and readable in an
    -- outcome's header where its payload is erased.
    outcome_id uuid NOT NULL,
    PRIMARY KEY (partition, turn_offset)
);

CREATE TABLE erased_outcomes (
    -- Turns that closed as erased. The topics are read independently of each other, so the outcome
    -- may come before the turn; a turn that finds itself here is never open. It names no subject.
    outcome_id uuid PRIMARY KEY,
    outcome_offset bigint NOT NULL
);

CREATE TABLE turns (
    subject uuid NOT NULL,
    turn_id uuid NOT NULL,
    partition integer NOT NULL,
    turn_offset bigint NOT NULL,
    -- How it closed; NULL while it is open.
    closing text,
    -- Where the outcome that counts stands in the memories topic; NULL while there is none: the
    -- turn is open, or a tombstone took it and an outcome would still count.
    outcome_offset bigint,
    PRIMARY KEY (subject, turn_id)
);

-- Recall asks for a subject's first open turn, whatever number of closed ones it has.
CREATE INDEX turns_open ON turns (subject, turn_offset) WHERE closing IS NULL;

CREATE TABLE memories (
    subject uuid NOT NULL,
    memory_id uuid NOT NULL,
    lineage_id uuid NOT NULL,
    kind text NOT NULL,
    content text NOT NULL,
    statement_key bytea NOT NULL,
    slot text NOT NULL,
    about text NOT NULL,
    importance smallint NOT NULL,
    confidence text NOT NULL,
    source text NOT NULL,
    turn_id uuid NOT NULL,
    conversation_id text NOT NULL,
    quote text NOT NULL,
    valid_from timestamptz NOT NULL,
    valid_to timestamptz,
    recorded_at timestamptz NOT NULL,
    -- When the ledger learnt the valid_to that stands here; NULL while it is open, or where it was
    -- known from the start. A backfill moves both. So what was known at a moment K is: the versions
    -- with recorded_at <= K, a valid_to learnt after K taken as open, and of a lineage's versions
    -- that then hold at the time asked for, the one with the greatest valid_from.
    closed_recorded_at timestamptz,
    retracted_at timestamptz,
    last_confirmed_at timestamptz NOT NULL,
    confirmations integer NOT NULL DEFAULT 0,
    expires_at timestamptz,
    embedding_model text,
    embedding halfvec({dimension}),
    PRIMARY KEY (subject, memory_id)
);

-- A vector beside its row, not behind a pointer: exact search reads every row of the subject.
ALTER TABLE memories ALTER COLUMN embedding SET STORAGE MAIN;

-- about is as long as a user's words make it, and an index entry must not be: it stays outside.
CREATE INDEX memories_slot ON memories (subject, slot);
CREATE INDEX memories_statement ON memories (subject, statement_key);
CREATE INDEX memories_lineage ON memories (subject, lineage_id);

-- The second wall: a connection that has named no subject sees and writes nothing. The setting is
-- read in a subquery, so once a statement and not once a row.
ALTER TABLE turns ENABLE ROW LEVEL SECURITY;
ALTER TABLE turns FORCE ROW LEVEL SECURITY;
CREATE POLICY turns_of_named_subjects ON turns USING (
    subject = ANY (
        (SELECT NULLIF(current_setting('memledger.subjects', true), '')::uuid[])::uuid[]
    )
);
ALTER TABLE memories ENABLE ROW LEVEL SECURITY;
ALTER TABLE memories FORCE ROW LEVEL SECURITY;
CREATE POLICY memories_of_named_subjects ON memories USING (
    subject = ANY (
        (SELECT NULLIF(current_setting('memledger.subjects', true), '')::uuid[])::uuid[]
    )
);

-- An audit looks for rows of subjects that nobody knows of any more, so it asks for all, explicitly.
CREATE POLICY turns_of_every_subject ON turns FOR SELECT USING (
    (SELECT current_setting('memledger.every_subject', true)) = 'yes'
);
CREATE POLICY memories_of_every_subject ON memories FOR SELECT USING (
    (SELECT current_setting('memledger.every_subject', true)) = 'yes'
);
