const { writeFileSync, readFileSync } = require('fs');
const dishes = require('./lib/dishes.js');

function main() {
  const week = JSON.parse(readFileSync('week.json', 'utf8'));
  const lines = week.map((day) => dishes.line(day, dishes.PRICE));
  writeFileSync('menu.txt', lines.join('\n') + '\n');
}

if (require.main === module) {
  main();
}
