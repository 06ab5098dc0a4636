#!/usr/bin/env python3
"""Weekly payout: add up what is done, refuse to pay nothing."""
import json
import sys

jobs = json.load(open("jobs.json"))
pay = {}
for job in jobs:
    if job["status"] == "completed":
        pay[job["worker"]] = pay.get(job["worker"], 0) + job["hours"]
    elif job["status"] not in ("open", "cancelled"):
        sys.exit("payout: job %s has an unknown status: %s" % (job["id"], job["status"]))
if not pay:
    sys.exit("payout: nobody worked?")
with open("payout.tsv", "w") as out:
    for worker in sorted(pay):
        out.write("%s\t%.2f\n" % (worker, pay[worker] * 31.5))
