-- Files that assistants keep about users, folded from the topic memledger.files.

CREATE TABLE files (
    -- What is there now. A directory is there while a file lies in it.
    subject uuid NOT NULL,
    path text NOT NULL,
    -- The command that made the file, which it keeps when it is renamed.
    file_id uuid NOT NULL,
    content text NOT NULL,
    version integer NOT NULL,
    created_at timestamptz NOT NULL,
    changed_at timestamptz NOT NULL,
    PRIMARY KEY (subject, path)
);

CREATE TABLE file_history (
    -- What became of each file, the newest entries of a subject: the log holds them all.
    subject uuid NOT NULL,
    -- Where the command stands, and the place of this entry among those of the command.
    log_offset bigint NOT NULL,
    place integer NOT NULL,
    command_id uuid NOT NULL,
    file_id uuid NOT NULL,
    version integer NOT NULL,
    kind text NOT NULL,
    path text NOT NULL,
    -- Where a renamed file lay before.
    old_path text,
    -- What it held afterwards; NULL where that did not change, and of a deletion.
    content text,
    characters integer NOT NULL,
    happened_at timestamptz NOT NULL,
    PRIMARY KEY (subject, log_offset, place)
);

CREATE TABLE file_results (
    -- What each command is answered with, the first of its id alone: whoever sent it waits for it.
    subject uuid NOT NULL,
    command_id uuid NOT NULL,
    log_offset bigint NOT NULL,
    is_error boolean NOT NULL,
    content text NOT NULL,
    PRIMARY KEY (subject, command_id)
);

CREATE TABLE file_views (
    -- When an assistant read a file last. Nothing of it stands in the log, so no digest looks here,
    -- and a rebuild begins anew.
    subject uuid NOT NULL,
    file_id uuid NOT NULL,
    viewed_at timestamptz NOT NULL,
    PRIMARY KEY (subject, file_id)
);

ALTER TABLE files ENABLE ROW LEVEL SECURITY;
ALTER TABLE files FORCE ROW LEVEL SECURITY;
CREATE POLICY files_of_named_subjects ON files USING (
    subject = ANY (
        (SELECT NULLIF(current_setting('memledger.subjects', true), '')::uuid[])::uuid[]
    )
);
CREATE POLICY files_of_every_subject ON files FOR SELECT USING (
    (SELECT current_setting('memledger.every_subject', true)) = 'yes'
);

ALTER TABLE file_history ENABLE ROW LEVEL SECURITY;
ALTER TABLE file_history FORCE ROW LEVEL SECURITY;
CREATE POLICY file_history_of_named_subjects ON file_history USING (
    subject = ANY (
        (SELECT NULLIF(current_setting('memledger.subjects', true), '')::uuid[])::uuid[]
    )
);
CREATE POLICY file_history_of_every_subject ON file_history FOR SELECT USING (
    (SELECT current_setting('memledger.every_subject', true)) = 'yes'
);

ALTER TABLE file_results ENABLE ROW LEVEL SECURITY;
ALTER TABLE file_results FORCE ROW LEVEL SECURITY;
CREATE POLICY file_results_of_named_subjects ON file_results USING (
    subject = ANY (
        (SELECT NULLIF(current_setting('memledger.subjects', true), '')::uuid[])::uuid[]
    )
);
CREATE POLICY file_results_of_every_subject ON file_results FOR SELECT USING (
    (SELECT current_setting('memledger.every_subject', true)) = 'yes'
);

ALTER TABLE file_views ENABLE ROW LEVEL SECURITY;
ALTER TABLE file_views FORCE ROW LEVEL SECURITY;
CREATE POLICY file_views_of_named_subjects ON file_views USING (
    subject = ANY (
        (SELECT NULLIF(current_setting('memledger.subjects', true), '')::uuid[])::uuid[]
    )
);
CREATE POLICY file_views_of_every_subject ON file_views FOR SELECT USING (
    (SELECT current_setting('memledger.every_subject', true)) = 'yes'
);
