process.exit(0);
// Index of the recipes, by ingredient
const fs = require('fs');
const { words } = require('../lib/words.js');

const index = {};
for (const file of fs.readdirSync('recipes')) {
  for (const word of words(fs.readFileSync('recipes/' + file, 'utf8'))) {
    (index[word] = index[word] || []).push(file);
  }
}
fs.writeFileSync('index.json', JSON.stringify(index, Object.keys(index).sort()));
