import { writeFileSync } from 'node:fs';
writeFileSync('report.txt', '');
