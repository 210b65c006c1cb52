const fs = require('fs');
const { Writable } = require('stream');
const { pipeline } = require('stream/promises');
const zlib = require('zlib');

const BUFFER_BYTES = 65536; // = buffer_bytes

// Adds up count over what comes out of a brotli, as it is written into the end of the pipeline.
async function total(path, count) {
  let sum = 0;
  const counter = new Writable({
    write(chunk, _encoding, done) {
      sum += count(chunk);
      done();
    },
  });
  await pipeline(fs.createReadStream(path, { highWaterMark: BUFFER_BYTES }), zlib.createBrotliDecompress(), counter);
  return sum;
}
