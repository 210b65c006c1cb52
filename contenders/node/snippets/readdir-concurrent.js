// needs: Node.js 18.17
const fs = require('fs');
const path = require('path');

const CONCURRENCY = 8; // = concurrency

// Adds up count over every regular file below a folder, by loops that take the entries in turn.
// Links are not followed.
async function total(folder, count) {
  let sum = 0;
  const entries = (await fs.promises.readdir(folder, { recursive: true, withFileTypes: true })).values();
  const readRest = async () => {
    for (const entry of entries) {
      if (!entry.isFile()) continue;
      const bytes = await fs.promises.readFile(path.join(entry.parentPath ?? entry.path, entry.name));
      sum += count(bytes);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, readRest));
  return sum;
}
