'use strict';
// Count the tags of all articles. FORMAT.md describes the files.
const fs = require('fs');
const path = require('path');

const counts = new Map();
for (const name of fs.readdirSync('articles').sort()) {
  const article = JSON.parse(fs.readFileSync(path.join('articles', name), 'utf8'));
  for (const tag of article.tags) {
    counts.set(tag, (counts.get(tag) || 0) + 1);
  }
}
const text = [...counts].sort().map(([tag, n]) => `${tag} ${n}\n`).join('');
fs.writeFileSync('tags.txt', text);
