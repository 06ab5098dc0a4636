"""Counts the errors of the day."""
import json
from pathlib import Path

root = Path(__file__).resolve().parent.parent
events = []
errors = [e for e in events if e["level"] == "error"]
(root / "errors.txt").write_text("%d\n" % len(errors))
