-- the archive of bills, form 7. Since 6:
--   amount (dollars) is gone: base_cents plus tip_cents is what a guest pays now
CREATE TABLE bills (
    number     INTEGER PRIMARY KEY,
    waiter     TEXT NOT NULL,
    base_cents INTEGER NOT NULL,
    tip_cents  INTEGER NOT NULL
);
