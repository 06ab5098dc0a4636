const fs = require('fs');
let n = 0;
try { n = Number(fs.readFileSync('.tries', 'utf8')); } catch {}
fs.writeFileSync('.tries', String(n + 1));
if (n < 2) {
  const e = new Error('connect ETIMEDOUT 192.0.2.10:443');
  e.code = 'ETIMEDOUT';
  throw e;
}
fs.writeFileSync('synced.json', '{"ok":true}\n');
