const fs = require('fs');

const BUFFER_BYTES = 65536; // = buffer_bytes

// Counts lines, each a new string; Node.js 18.11 or later.
async function lines(path) {
  const file = await fs.promises.open(path);
  try {
    let count = 0;
    for await (const _ of file.readLines({ highWaterMark: BUFFER_BYTES })) count++;
    return count;
  } finally {
    await file.close();
  }
}
