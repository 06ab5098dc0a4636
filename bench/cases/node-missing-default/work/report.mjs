import { writeFileSync } from 'node:fs';
import format from './lib/format.mjs';

const lines = [['a', 1.5], ['b', 20]].map(([k, v]) => format(k, v));
writeFileSync('report.txt', lines.join('\n') + '\n');
