import csv
from collections import defaultdict

per_team = defaultdict(float)
with open("hours.csv", newline="", encoding="utf-8") as f:
    for row in csv.DictReader(f):
        per_team[row.get("team name", "")] += float(row.get("hours", 0))
with open("teams.txt", "w") as out:
    for team in sorted(per_team):
        print(team, per_team[team], file=out)
