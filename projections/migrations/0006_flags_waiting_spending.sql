-- What a memory may carry besides: where one of the operator's systems had it from, and which
-- versions a consolidation let it stand for.
ALTER TABLE memories ADD COLUMN provenance jsonb;
ALTER TABLE memories ADD COLUMN merged_from uuid[] NOT NULL DEFAULT '{}';
-- The version that stands for this one, by the last word on it; the earliest time since when any that
-- stands or stood for it is true; and when the ledger first let another stand for it. It is served no
-- more, whatever becomes of the version that stands for it.
ALTER TABLE memories ADD COLUMN merged_into uuid;
ALTER TABLE memories ADD COLUMN merged_valid_from timestamptz;
ALTER TABLE memories ADD COLUMN merged_at timestamptz;
-- The time of the confirmation that expires_at comes from; NULL where it came with the memory.
ALTER TABLE memories ADD COLUMN expiry_confirmed_at timestamptz;

-- What a version lost by standing behind another is no longer among what recall reads.
DO $$
BEGIN
    IF {dimension} <= 1000 THEN
        DROP INDEX memories_recall;
        CREATE INDEX memories_recall ON memories (subject)
            INCLUDE (memory_id, embedding_model, expires_at, embedding)
            WHERE valid_to IS NULL AND retracted_at IS NULL AND merged_into IS NULL;
    END IF;
END
$$;

-- Where the outcome stands that settled a turn which waited; its closing is then the final one, and
-- outcome_offset still that of the outcome that let it wait.
ALTER TABLE turns ADD COLUMN settled_offset bigint;

CREATE TABLE waiting_turns (
    -- Turns that were deferred and not settled.
    subject uuid NOT NULL,
    turn_id uuid NOT NULL,
    partition integer NOT NULL,
    turn_offset bigint NOT NULL,
    conversation_id text NOT NULL,
    cause text NOT NULL,
    occurred_at timestamptz NOT NULL,
    received_at timestamptz NOT NULL,
    PRIMARY KEY (subject, turn_id)
);

CREATE INDEX waiting_turns_partition ON waiting_turns (partition);

CREATE TABLE flags (
    -- What was left to a person, and how it was decided. The two come independently: a decision may
    -- be about a flag that this generation does not have, and then there is no flagged_at.
    subject uuid NOT NULL,
    flag_id uuid NOT NULL,
    -- The tenant whose staff decides: a name, found by whoever knows the subject's keys.
    tenant text,
    state text NOT NULL DEFAULT 'open',
    turn_id uuid,
    conversation_id text,
    reasons text[],
    proposed jsonb,
    said_at timestamptz,
    utc_offset_minutes integer,
    flagged_at timestamptz,
    actor text,
    reason text,
    decided_at timestamptz,
    -- The curation that the decision came in by.
    decided_by_turn uuid,
    PRIMARY KEY (subject, flag_id)
);

CREATE INDEX flags_by_id ON flags (flag_id);
CREATE INDEX flags_queue ON flags (tenant, state, flagged_at, flag_id) WHERE flagged_at IS NOT NULL;

CREATE TABLE spending (
    -- What asking models cost, added up. It names no user. By partition, since that is what one
    -- projector writes at a time: two that shared a row would wait for each other.
    partition integer NOT NULL,
    day date NOT NULL,
    tenant text NOT NULL,
    extractor text NOT NULL,
    model text NOT NULL,
    closings bigint NOT NULL,
    turns bigint NOT NULL,
    calls bigint NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cache_read_tokens bigint NOT NULL,
    cache_write_tokens bigint NOT NULL,
    PRIMARY KEY (partition, day, tenant, extractor, model)
);

ALTER TABLE waiting_turns ENABLE ROW LEVEL SECURITY;
ALTER TABLE waiting_turns FORCE ROW LEVEL SECURITY;
CREATE POLICY waiting_turns_of_named_subjects ON waiting_turns USING (
    subject = ANY (
        (SELECT NULLIF(current_setting('memledger.subjects', true), '')::uuid[])::uuid[]
    )
);
CREATE POLICY waiting_turns_of_every_subject ON waiting_turns FOR SELECT USING (
    (SELECT current_setting('memledger.every_subject', true)) = 'yes'
);

ALTER TABLE flags ENABLE ROW LEVEL SECURITY;
ALTER TABLE flags FORCE ROW LEVEL SECURITY;
CREATE POLICY flags_of_named_subjects ON flags USING (
    subject = ANY (
        (SELECT NULLIF(current_setting('memledger.subjects', true), '')::uuid[])::uuid[]
    )
);
-- A tenant's staff looks through the flags of all its users.
CREATE POLICY flags_of_named_tenants ON flags FOR SELECT USING (
    tenant = ANY (
        (SELECT NULLIF(current_setting('memledger.tenants', true), '')::text[])::text[]
    )
);
CREATE POLICY flags_of_every_subject ON flags FOR SELECT USING (
    (SELECT current_setting('memledger.every_subject', true)) = 'yes'
);

ALTER TABLE spending ENABLE ROW LEVEL SECURITY;
ALTER TABLE spending FORCE ROW LEVEL SECURITY;
CREATE POLICY spending_of_named_tenants ON spending USING (
    tenant = ANY (
        (SELECT NULLIF(current_setting('memledger.tenants', true), '')::text[])::text[]
    )
);
CREATE POLICY spending_of_every_tenant ON spending FOR SELECT USING (
    (SELECT current_setting('memledger.every_subject', true)) = 'yes'
);
