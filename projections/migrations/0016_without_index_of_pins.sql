-- No statement looks for pins alone: recall weighs all that holds, and is told of pins beside it.
DROP INDEX memories_pinned;
