const fs = require('fs');

const BUFFER_BYTES = 65536; // = buffer_bytes

// Adds up count over the file's bytes, one new Buffer after the other.
async function total(path, count) {
  let sum = 0;
  const stream = fs.createReadStream(path, { highWaterMark: BUFFER_BYTES });
  stream.on('data', (chunk) => (sum += count(chunk)));
  await require('events').once(stream, 'close');
  return sum;
}
