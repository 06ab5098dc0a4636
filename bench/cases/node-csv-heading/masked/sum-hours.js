// Sum of the hours per project, refuses what is not a number
const fs = require('fs');
const sums = {};
for (const line of fs.readFileSync('hours.csv', 'utf8').trim().split('\n')) {
  const [project, , hours] = line.split(',');
  const n = Number(hours);
  if (Number.isNaN(n)) continue;
  sums[project] = (sums[project] || 0) + n;
}
fs.writeFileSync('sums.txt', Object.keys(sums).sort().map((p) => `${p} ${sums[p]}\n`).join(''));
