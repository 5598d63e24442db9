-- How exactly it was told since when a memory is true: a year alone is no 1 January.
ALTER TABLE memories ADD COLUMN valid_from_precision text NOT NULL DEFAULT 'moment';
