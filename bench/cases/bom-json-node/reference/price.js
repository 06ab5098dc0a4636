const fs = require('fs');
const path = require('path');

const read = (name) => JSON.parse(fs.readFileSync(path.join(__dirname, name), 'utf8').replace(/^\uFEFF/, ''));
const list = read('prices.json');
let out = '';
for (const p of list) {
  if (typeof p.cents !== 'number') throw new Error('no price for ' + p.sku);
  out += `${p.sku};${(p.cents / 100).toFixed(2)}\n`;
}
fs.writeFileSync(path.join(__dirname, 'prices.txt'), out);
