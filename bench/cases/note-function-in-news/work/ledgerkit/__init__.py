"""Reads ledgers."""


def settled(path):
    """The entries that are booked."""
    return [row for row in _rows(path) if row[2] == "booked"]


def pending(path):
    """The entries that wait."""
    return [row for row in _rows(path) if row[2] == "waiting"]


def _rows(path):
    rows = []
    for line in open(path):
        name, amount, state = line.split()
        rows.append((name, int(amount), state))
    return rows
