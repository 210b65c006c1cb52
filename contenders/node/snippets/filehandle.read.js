const fs = require('fs');

const BUFFER_BYTES = 65536; // = buffer_bytes

// Adds up count over the file's bytes, one read at a time into one Buffer.
async function total(path, count) {
  const file = await fs.promises.open(path);
  try {
    const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
    let sum = 0;
    for (let bytesRead; ({ bytesRead } = await file.read(buffer)), bytesRead > 0; ) {
      sum += count(buffer.subarray(0, bytesRead));
    }
    return sum;
  } finally {
    await file.close();
  }
}
