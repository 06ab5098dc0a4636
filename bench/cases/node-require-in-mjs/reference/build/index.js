import fs from 'fs';
import path from 'path';
import { fileURLToPath } from 'url';
import { shout } from './shout.js';

const dir = path.dirname(fileURLToPath(import.meta.url));
const out = path.join(dir, 'hello.txt');
const conf = JSON.parse(fs.readFileSync(path.join(dir, 'conf.json'), 'utf8'));
fs.writeFileSync(out, shout(conf.text) + '\n');
