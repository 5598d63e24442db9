-- name: select_positions
-- The first offset that is not applied, of each topic's partitions.
SELECT topic, partition, next_offset FROM positions;

-- name: count_open_turns
-- Turns that were read and that no outcome closes.
SELECT count(*) FROM open_turns;
