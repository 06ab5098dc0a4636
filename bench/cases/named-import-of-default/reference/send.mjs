import fs from 'node:fs';
import format from './lib/format.mjs';

const lines = fs.readFileSync(new URL('queue.txt', import.meta.url), 'utf8').trim().split('\n');
if (!lines[0]) throw new Error('empty queue');
fs.writeFileSync(new URL('sent.txt', import.meta.url), lines.map(format).join('\n') + '\n');
