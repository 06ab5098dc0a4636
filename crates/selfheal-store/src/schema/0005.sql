-- A message may have a second form for channels that show HTML: the report of a week with its charts.

ALTER TABLE outbox ADD COLUMN html TEXT;
