import fs from 'fs';
fs.writeFileSync('menu.txt', '');
