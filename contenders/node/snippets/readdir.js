// usual: yes
// needs: Node.js 18.17
const fs = require('fs');
const path = require('path');

// Adds up count over every regular file below a folder, one after the other. Links are not
// followed.
async function total(folder, count) {
  let sum = 0;
  for (const entry of await fs.promises.readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) sum += count(await fs.promises.readFile(path.join(entry.parentPath ?? entry.path, entry.name)));
  }
  return sum;
}
