// needs: Node.js 18.17
const fs = require('fs');
const path = require('path');

// Adds up count over every regular file below a folder. Links are not followed.
function total(folder, count) {
  let sum = 0;
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) sum += count(fs.readFileSync(path.join(entry.parentPath ?? entry.path, entry.name)));
  }
  return sum;
}
