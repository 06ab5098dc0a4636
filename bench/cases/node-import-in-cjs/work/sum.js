import { readFileSync, writeFileSync } from 'fs';
import os from 'os';

const n = readFileSync('numbers.txt', 'utf8').split('\n').filter(Boolean).map(Number);
if (n.some(Number.isNaN)) throw new Error('not a number');
writeFileSync('sum.txt', n.reduce((a, b) => a + b, 0) + os.EOL);
