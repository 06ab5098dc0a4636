const fs = require('fs');
const args = process.argv.slice(2);
let out = null, title = false, files = [];
for (let i = 0; i < args.length; i++) {
  const a = args[i];
  if (a === '--out-file') out = args[++i];
  else if (a === '--title-case') title = true;
  else if (a === '--help') { console.log('mdlite [--title-case] --out-file FILE INPUT'); process.exit(0); }
  else if (a.startsWith('--')) { console.error(`mdlite: unknown option ${a}. Did you mean --out-file?`); process.exit(2); }
  else files.push(a);
}
let t = fs.readFileSync(files[0], 'utf8');
fs.writeFileSync(out, t.split('\n').filter(Boolean).map((l) => `<p>${title ? l[0].toUpperCase() + l.slice(1) : l}</p>\n`).join(''));
