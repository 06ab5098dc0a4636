CREATE TABLE parcels (
    id      INTEGER PRIMARY KEY,
    state   TEXT NOT NULL,
    departed_at TEXT NOT NULL
);
