const fs = require('fs');
const path = require('path');
const people = fs.readFileSync('people.txt', 'utf8').trim().split('\n');
for (const p of people) {
  const file = path.join('badges', p[0].toUpperCase(), p + '.txt');
  try { fs.writeFileSync(file, `Hello ${p}\n`); } catch (e) {}
}
