// Write inventory.csv from the answer of the asset server.
import { readFileSync, writeFileSync } from 'node:fs';

const assets = JSON.parse(readFileSync(new URL('assets.json', import.meta.url), 'utf8'));
const rows = assets.map((a) => {
  const [building, room] = a.roomNumber.split('-');
  return [a.serialNumber, building, room, a.owner].join(',');
});
rows.sort();
writeFileSync(new URL('inventory.csv', import.meta.url), ['serial,building,room,owner', ...rows].join('\n') + '\n');
console.log(rows.length);
