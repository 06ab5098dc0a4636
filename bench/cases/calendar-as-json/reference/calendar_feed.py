"""Write the club's calendar as JSON for the web page."""
import json
from datetime import date

events = []
for line in open("events.txt", encoding="utf-8"):
    day, title = line.rstrip("\n").split(" ", 1)
    events.append({"day": date.fromisoformat(day), "title": title})
events.sort(key=lambda event: event["day"])
text = json.dumps({"events": events, "count": len(events)}, indent=1, default=str)
open("feed.json", "w", encoding="utf-8").write(text)
