const fs = require('fs');

const BUFFER_BYTES = 65536; // = buffer_bytes

// Adds up count over the file's bytes, one new Buffer after the other.
async function total(path, count) {
  let sum = 0;
  for await (const chunk of fs.createReadStream(path, { highWaterMark: BUFFER_BYTES })) sum += count(chunk);
  return sum;
}
