'use strict';
const fs = require('fs');
const path = require('path');
const { shout } = require('./shout.js');

const out = path.join(__dirname, 'hello.txt');
const conf = require('./conf.json');
fs.writeFileSync(out, shout(conf.text) + '\n');
