// Write inventory.csv from the answer of the asset server.
import { readFileSync, writeFileSync } from 'node:fs';

const assets = JSON.parse(readFileSync(new URL('assets.json', import.meta.url), 'utf8'));
const rows = assets.map((a) => {
  const [building, room] = a.room_number.split('-');
  return [a.serial_number, building, room, a.owner].join(',');
});
rows.sort();
writeFileSync(new URL('inventory.csv', import.meta.url), ['serial,building,room,owner', ...rows].join('\n') + '\n');
console.log(rows.length);
