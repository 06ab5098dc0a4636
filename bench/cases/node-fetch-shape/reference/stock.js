const fs = require('fs');
process.chdir(__dirname);
const items = JSON.parse(fs.readFileSync('stock.json', 'utf8')).items;
const low = items.filter((i) => i.in_stock < 5).map((i) => i.name.toUpperCase());
if (!Array.isArray(low)) throw new Error('bad');
fs.writeFileSync('low.txt', low.join('\n') + '\n');
