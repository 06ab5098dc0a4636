import json, pathlib
f = pathlib.Path(__file__).with_name("sessions.json")
sessions = json.loads(f.read_text())
NOW = 1000
for key, until in list(sessions.items()):
    if until < NOW:
        print("expired", key)
        del sessions[key]
f.write_text(json.dumps(sessions, sort_keys=True))
