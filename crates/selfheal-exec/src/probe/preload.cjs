// Loaded by every node of a traced run before its program (NODE_OPTIONS). Writes to descriptor @FD@ only.
//
// Lines come from V8's coverage by blocks, values from its debugger, which stops at what is thrown; both by a session of
// the same thread, so nothing listens and nothing is waited for.
"use strict";
(() => {
  const fs = require("fs");
  const path = require("path");
  try {
    fs.fstatSync(@FD@);
  } catch {
    return;
  }
  const root = JSON.parse(@ROOT@);
  const { min } = Math;
  const emit = (kind, value) => {
    try {
      const data = Buffer.from("\x1e@TOKEN@\x1f" + kind + "\x1f" + JSON.stringify(value) + "\n");
      let at = 0;
      while (at < data.length) {
        at += fs.writeSync(@FD@, data, at);
      }
    } catch {
      // The trace is gone; the program goes on.
    }
  };
  const read = (file) => {
    try {
      return fs.statSync(file).size > 1048576 ? "" : fs.readFileSync(file, "utf8");
    } catch {
      return "";
    }
  };
  const text = (file, line) => (read(file).split("\n")[line - 1] || "").trim().slice(0, 200);
  const place = (url) => (url.startsWith("file://") ? decodeURIComponent(url.slice(7)) : url);
  const frames = (stack) => {
    const found = [];
    for (const line of String(stack).split("\n").slice(0, 60)) {
      const match = /^\s+at (?:(?:async )?(.*?) \()?(?:file:\/\/)?(\/[^():]+):(\d+):\d+\)?$/.exec(line);
      if (match && match[2] !== __filename) {
        found.push([match[2], Number(match[3]), !match[1] || match[1] === "Object.<anonymous>" ? "main" : match[1], {}, text(match[2], Number(match[3]))]);
      }
    }
    return found.reverse();
  };

  // The program's own session, if it has one, is another.
  let session;
  const urls = new Map();
  let stops = 0;
  let stopped = [];
  try {
    const inspector = require("inspector");
    session = new inspector.Session();
    session.connect();
    session.post("Profiler.enable");
    session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
    session.on("Debugger.paused", ({ params }) => {
      if (++stops > 200) {
        session.post("Debugger.setPauseOnExceptions", { state: "none" });
      }
      if (params.reason === "exception" || params.reason === "promiseRejection") {
        stopped.push(params.callFrames.slice(0, 20).map(stop).filter(Boolean));
        stopped = stopped.slice(-20);
      }
    });
    session.on("Debugger.scriptParsed", ({ params }) => urls.set(params.scriptId, params.url));
    session.post("Debugger.enable");
    session.post("Debugger.setPauseOnExceptions", { state: "all" });
  } catch {
    session = undefined;
  }
  const shown = (value) => {
    if (value === undefined || value.type === "function" || value.subtype === "proxy") {
      return undefined;
    }
    if (value.preview) {
      const parts = (value.preview.properties || []).slice(0, 20);
      const list = value.subtype === "array";
      const inside = parts.map(({ name, value: inner }) => (list ? inner : name + ": " + inner)).join(", ");
      return (list ? "[" + inside + "]" : "{" + inside + "}").slice(0, 200);
    }
    const plain = value.value === undefined ? value.description || value.type : value.value;
    return String(plain).slice(0, 200);
  };
  const stop = (frame) => {
    const file = place(urls.get(frame.location.scriptId) || "");
    if (!file.startsWith("/") || (root && !file.startsWith(root))) {
      return undefined;
    }
    const values = {};
    for (const scope of frame.scopeChain) {
      if (!["local", "block", "catch", "module", "script"].includes(scope.type)) {
        continue;
      }
      const options = { objectId: scope.object.objectId, ownProperties: true, generatePreview: true };
      session.post("Runtime.getProperties", options, (error, answer) => {
        for (const { name, value } of error ? [] : answer.result.slice(0, 60)) {
          const word = ["exports", "require", "module", "__filename", "__dirname"].includes(name) ? undefined : shown(value);
          if (word !== undefined && !(name in values) && Object.keys(values).length < 40) {
            values[name] = word;
          }
        }
      });
    }
    return { file, line: frame.location.lineNumber + 1, values };
  };
  // The values of the frames of an error, from the stop at the place where it was thrown.
  const valued = (found) => {
    const inner = found[found.length - 1];
    const at = inner && stopped.findLast((one) => one[0] && one[0].file === inner[0] && one[0].line === inner[1]);
    let depth = 0;
    for (const frame of at ? found.slice().reverse() : []) {
      const same = at.slice(depth).findIndex((one) => one.file === frame[0] && one.line === frame[1]);
      if (same >= 0) {
        frame[3] = at[depth + same].values;
        depth += same + 1;
      }
    }
    return found;
  };

  let failed = [];
  const lines = (scripts) => {
    const all = {};
    const own = scripts.filter(({ url }) => place(url).startsWith(root || "/") && place(url) !== __filename);
    for (const { url, functions } of own.slice(0, 200)) {
      const file = place(url);
      if (!file.includes("/node_modules/")) {
        all[file] = ran(read(file), functions, failed.filter((frame) => frame[0] === file));
      }
    }
    return all;
  };
  // Coverage knows no exceptions: what stands behind the line that threw, in the same function, did not run.
  const ran = (source, functions, thrown) => {
    const count = new Uint32Array(source.length);
    const owner = new Int32Array(source.length);
    functions.forEach(({ ranges }, index) => {
      owner.fill(index, ranges[0].startOffset, ranges[0].endOffset);
      for (const range of ranges) {
        count.fill(min(range.count, 4294967295), range.startOffset, range.endOffset);
      }
    });
    const found = [];
    let at = 0;
    const ended = new Map();
    source.split("\n").forEach((line, index) => {
      for (let column = 0; column < line.length; column++) {
        const here = owner[at + column];
        if (line[column] > " " && count[at + column] > 0 && !ended.has(here)) {
          found.push(index + 1);
          break;
        }
      }
      if (thrown.some((frame) => frame[1] === index + 1)) {
        const here = owner[at + line.search(/\S|$/)];
        if (functions[here] && functions[here].ranges[0].count === 1) {
          ended.set(here, true);
        }
      }
      at += line.length + 1;
    });
    return found;
  };

  emit("NB", [process.pid, process.argv.slice(1, 2).map((name) => path.resolve(name))]);
  process.on("uncaughtExceptionMonitor", (error) => {
    failed = valued(frames(error && error.stack));
    emit("NF", [(error && error.name) || "thrown", failed]);
  });
  process.on("exit", (code) => {
    if (session) {
      session.post("Profiler.takePreciseCoverage", (error, answer) => {
        if (!error) {
          emit("NL", lines(answer.result));
        }
      });
      session.disconnect();
    }
    if (code !== 0 && failed.length === 0) {
      emit("NF", ["exit", frames(new Error().stack)]);
    }
  });
})();
