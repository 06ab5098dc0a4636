// Birthday greetings: one line per user that has a birthday today.
const fs = require('fs');

const today = process.env.TODAY || '05-17';
const users = JSON.parse(fs.readFileSync('users.json', 'utf8')).users;

const lines = [];
for (const user of users) {
  const born = user.birthday.slice(5);
  if (born !== today) continue;
  lines.push(`Dear ${user.name}, all the best! -> ${user.email}`);
}
fs.writeFileSync('greetings.txt', lines.map((l) => l + '\n').join(''));
console.log(`${lines.length} greetings`);
