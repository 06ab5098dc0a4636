// Loaded by every node of a traced run before its program (NODE_OPTIONS). Writes to descriptor @FD@ only.
"use strict";
(() => {
  const fs = require("fs");
  const path = require("path");
  try {
    fs.fstatSync(@FD@);
  } catch {
    return;
  }
  const emit = (kind, value) => {
    try {
      fs.writeSync(@FD@, "\x1e@TOKEN@\x1f" + kind + "\x1f" + JSON.stringify(value) + "\n");
    } catch {
      // The trace is gone; the program goes on.
    }
  };
  const frames = (stack) => {
    const found = [];
    for (const line of String(stack).split("\n").slice(0, 60)) {
      const match = /^\s+at (?:(?:async )?(.*?) \()?(?:file:\/\/)?(\/[^():]+):(\d+):\d+\)?$/.exec(line);
      if (match && match[2] !== __filename) {
        found.push([match[2], Number(match[3]), match[1] || "main", {}, text(match[2], Number(match[3]))]);
      }
    }
    return found.reverse();
  };
  const text = (file, line) => {
    try {
      return (fs.readFileSync(file, "utf8").split("\n")[line - 1] || "").trim().slice(0, 200);
    } catch {
      return "";
    }
  };
  let thrown = false;
  emit("NB", [process.pid, process.argv.slice(1, 2).map((name) => path.resolve(name))]);
  process.on("uncaughtExceptionMonitor", (error) => {
    thrown = true;
    emit("NF", [(error && error.name) || "thrown", frames(error && error.stack)]);
  });
  process.on("exit", (code) => {
    if (code !== 0 && !thrown) {
      emit("NF", ["exit", frames(new Error().stack)]);
    }
  });
})();
