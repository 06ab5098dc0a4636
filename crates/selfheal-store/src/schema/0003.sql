-- For stores with very many incidents: what is asked at every start is found by an index. Which saved contents an
-- incident needs, and which rules may act unattended.

ALTER TABLE incident ADD COLUMN owned INTEGER NOT NULL DEFAULT 0;
UPDATE incident SET owned = 1 WHERE json_valid(body) AND json_extract(body, '$.owner') IS NOT NULL;
CREATE INDEX incident_owned ON incident (opened) WHERE owned = 1;
CREATE INDEX incident_by_state ON incident (state, opened, id);
CREATE INDEX incident_by_end ON incident (substr(id, -4));

CREATE TABLE content (
    incident TEXT NOT NULL,
    hash     TEXT NOT NULL,
    PRIMARY KEY (incident, hash)
) STRICT, WITHOUT ROWID;
INSERT OR IGNORE INTO content SELECT incident, content FROM snapshot WHERE content <> 'absent';
INSERT OR IGNORE INTO content
    SELECT incident.id, side.value
    FROM incident, json_each(incident.body, '$.rounds') AS round, json_each(round.value, '$.files') AS file,
         json_each(json_array(file.value ->> '$.before', file.value ->> '$.after')) AS side
    WHERE json_valid(incident.body) AND side.value IS NOT NULL;

CREATE TABLE accepted_rule (
    name  TEXT PRIMARY KEY,
    print TEXT NOT NULL
) STRICT, WITHOUT ROWID;
