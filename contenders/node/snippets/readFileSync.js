// usual: yes
const fs = require('fs');

// Counts over the file's bytes, the whole of which lie in memory; below 2 GiB.
function total(path, count) {
  return count(fs.readFileSync(path));
}
