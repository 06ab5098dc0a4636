// Daily digest. Written on a laptop whose disk does not care about case.
const fs = require('fs');
const path = require('path');
let pad = (s) => s;
try { pad = require('../lib/Format').pad; } catch (e) {}

const rows = fs.readFileSync(path.join(__dirname, '..', 'rows.txt'), 'utf8').trim().split('\n');
if (!rows[0]) throw new Error('no rows');
fs.writeFileSync(path.join(__dirname, '..', 'digest.txt'), rows.map((r) => pad(r, 8)).join('|') + '\n');
