import { readFileSync, writeFileSync } from 'node:fs';

const text = readFileSync('yard.json', 'utf8');
const yard = { buses: [] };
writeFileSync('seats.txt', yard.buses.map((bus) => `${bus.line} ${bus.seats}\n`).join(''));
