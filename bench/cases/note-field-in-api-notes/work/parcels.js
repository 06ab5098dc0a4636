const fs = require('fs');

const answer = JSON.parse(fs.readFileSync('answer.json', 'utf8'));
const lines = answer.parcels.map((parcel) => `${parcel.id} ${parcel.weight}`);
fs.writeFileSync('weights.txt', lines.join('\n') + '\n');
