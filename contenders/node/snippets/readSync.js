const fs = require('fs');

const BUFFER_BYTES = 65536; // = buffer_bytes

// Adds up count over the file's bytes, one read at a time into one Buffer.
function total(path, count) {
  const file = fs.openSync(path, 'r');
  try {
    const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
    let sum = 0;
    for (let length; (length = fs.readSync(file, buffer)) > 0; ) sum += count(buffer.subarray(0, length));
    return sum;
  } finally {
    fs.closeSync(file);
  }
}
