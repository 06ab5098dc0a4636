import fs from 'fs';
fs.writeFileSync('build/hello.txt', '');
