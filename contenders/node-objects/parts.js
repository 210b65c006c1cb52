// Reads a whole in parts, some at once, each by a request for a range. The first answer says how large the whole is.
'use strict';

/**
 * `open({ start, length })` requests a part and resolves, when its head is there and right, to `{ size, body }`: the
 * size of the whole, and a function that visits the bytes. At most `concurrency` parts are open at once.
 */
async function readParts({ part_bytes, concurrency }, open) {
  const first = await open({ start: 0, length: part_bytes });
  const { size } = first;
  let next = part_bytes;

  async function readOn(opened) {
    if (opened.size !== size) throw new Error(`the size changed from ${size} to ${opened.size} bytes`);
    await opened.body();
    if (next < size) await readOn(await take());
  }

  function take() {
    const start = next;
    next += part_bytes;
    return open({ start, length: Math.min(part_bytes, size - start) });
  }

  const readers = [readOn(first)];
  while (readers.length < concurrency && next < size) readers.push(take().then(readOn));
  await Promise.all(readers);
}

module.exports = { readParts };
