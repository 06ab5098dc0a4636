require('fs').writeFileSync('sum.txt', '0\n');
