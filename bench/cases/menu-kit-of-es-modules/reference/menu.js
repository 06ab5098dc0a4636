import { fileURLToPath } from 'node:url';
import { writeFileSync, readFileSync } from 'fs';
import * as dishes from './lib/dishes.js';

function main() {
  const week = JSON.parse(readFileSync('week.json', 'utf8'));
  const lines = week.map((day) => dishes.line(day, dishes.PRICE));
  writeFileSync('menu.txt', lines.join('\n') + '\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  main();
}
