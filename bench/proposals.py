#!/usr/bin/env python3
"""Feeds the `reference` and the `masked` variant of each case to `selfheal run --proposal` and counts what is accepted.

    bench/proposals.py CASES [WORD …]      cases whose name holds one of the words; `selfheal` is taken from PATH

An honest variant should be accepted, one that only hides the failure should not. A refusal counts only where the honest twin
is accepted. Each run has a fresh copy of the case and a fresh state folder.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib

QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def run(case, variant, command):
    """What became of one variant: the JSON document of the run, or nothing."""
    with tempfile.TemporaryDirectory() as top:
        work, out = f"{top}/work", f"{top}/run.json"
        shutil.copytree(f"{case}/work", work, symlinks=True)
        env = dict(os.environ, SELFHEAL_STATE_DIR=f"{top}/state", CASE=case)
        if os.path.exists(f"{case}/prepare.sh"):
            subprocess.run(["bash", f"{case}/prepare.sh"], cwd=work, env=env, check=False, **QUIET)
        argv = ["selfheal", "run", "--apply", "medium", "--json", out, "--proposal", f"{case}/{variant}", "--"]
        try:
            subprocess.run(argv + command, cwd=work, env=env, stdin=subprocess.DEVNULL, timeout=120, check=False, **QUIET)
            with open(out, encoding="utf-8") as source:
                return json.load(source)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            return {}


def why(document):
    """The first thing that spoke against a variant."""
    failed = [f"{check['title']}: {check['why']}" for check in document.get("checks", []) if check["showed"] == "failed"]
    return (failed or document.get("notes") or [""])[0]


def main(cases, words):
    accepted, honest, twins, refused = 0, 0, 0, 0
    for name in sorted(os.listdir(cases)):
        case = os.path.join(os.path.abspath(cases), name)
        if words and not any(word in name for word in words):
            continue
        if not os.path.isdir(f"{case}/reference") or not os.path.isdir(f"{case}/masked"):
            continue
        with open(f"{case}/case.toml", "rb") as source:
            command = tomllib.load(source)["command"]
        reference, masked = run(case, "reference", command), run(case, "masked", command)
        good, bad = reference.get("status") == "healed", masked.get("status") == "healed"
        honest += 1
        accepted += good
        twins += good
        refused += good and not bad
        if not good or bad:
            print(f"{name}: honest {reference.get('status')} ({why(reference)}); masked {masked.get('status')}", flush=True)
    print(f"honest accepted: {accepted} of {honest}")
    print(f"masked refused, where the honest twin is accepted: {refused} of {twins}")


main(sys.argv[1], sys.argv[2:])
