'use strict';
const fs = require('fs');
const path = require('path');
const text = fs.readFileSync(path.join(__dirname, 'limits.json'), 'utf8');
const limits = JSON.parse(text);
if (!(limits.cpu > 0)) throw new Error('no cpu limit');
fs.writeFileSync(path.join(__dirname, 'cpu.txt'), `${limits.cpu}\n`);
