exports.pad = (s, n) => s.padEnd(n, '.');
