// usual: yes
const fs = require('fs');
const readline = require('readline');

const BUFFER_BYTES = 65536; // = buffer_bytes

// Counts lines, each a new string.
function lines(path) {
  return new Promise((resolve, reject) => {
    const input = fs.createReadStream(path, { highWaterMark: BUFFER_BYTES });
    let count = 0;
    input.on('error', reject);
    readline
      .createInterface({ input, crlfDelay: Infinity })
      .on('line', () => count++)
      .on('close', () => resolve(count));
  });
}
