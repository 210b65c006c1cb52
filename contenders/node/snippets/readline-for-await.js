// usual: yes
const fs = require('fs');
const readline = require('readline');

const BUFFER_BYTES = 65536; // = buffer_bytes

// Counts lines, each a new string.
async function lines(path) {
  const input = fs.createReadStream(path, { highWaterMark: BUFFER_BYTES });
  let count = 0;
  for await (const _ of readline.createInterface({ input, crlfDelay: Infinity })) count++;
  return count;
}
