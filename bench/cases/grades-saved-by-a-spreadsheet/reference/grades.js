// Mean grade per class, for the notice board (grades.txt)
const fs = require('fs');

const rows = fs.readFileSync(`${__dirname}/grades.csv`, 'utf8').replace(/^\uFEFF/, '').split(/\r?\n/).filter(Boolean);
const names = rows[0].split(';');
const at = (name) => {
  const place = names.indexOf(name);
  if (place < 0) throw new Error(`grades.csv has no column ${name}`);
  return place;
};
const [klass, grade] = [at('class'), at('grade')];
const sums = new Map();
for (const row of rows.slice(1)) {
  const cells = row.split(';');
  const value = parseFloat(cells[2].replace(',', '.'));
  if (!(value >= 1 && value <= 6)) throw new Error(`no grade: ${row}`);
  const [n, sum] = sums.get(cells[klass]) ?? [0, 0];
  sums.set(cells[klass], [n + 1, sum + value]);
}
const lines = [...sums].sort().map(([name, [n, sum]]) => `${name} ${(sum / n).toFixed(2)}`);
fs.writeFileSync(`${__dirname}/grades.txt`, lines.join('\n') + '\n');
