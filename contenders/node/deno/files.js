// The methods of the namespace Deno.
'use strict';

const { Tally } = require('../tally');
const { linesOf } = require('../text');

async function byReadTextFile(request) {
  return linesOf(await Deno.readTextFile(request.path));
}

/** The stream closes the file, at its end or with an error. */
async function byReadable(request) {
  const tally = new Tally(request);
  const file = await Deno.open(request.path);
  for await (const chunk of file.readable) tally.take(chunk);
  return tally.answer();
}

async function byRead(request) {
  const tally = new Tally(request);
  const file = await Deno.open(request.path);
  try {
    const buffer = new Uint8Array(request.params.buffer_bytes);
    for (let length; (length = await file.read(buffer)) !== null; ) tally.take(buffer.subarray(0, length));
  } finally {
    file.close();
  }
  return tally.answer();
}

function byReadSync(request) {
  const tally = new Tally(request);
  const file = Deno.openSync(request.path);
  try {
    const buffer = new Uint8Array(request.params.buffer_bytes);
    for (let length; (length = file.readSync(buffer)) !== null; ) tally.take(buffer.subarray(0, length));
  } finally {
    file.close();
  }
  return tally.answer();
}

async function byReadFile(request) {
  const tally = new Tally(request);
  tally.take(await Deno.readFile(request.path));
  return tally.answer();
}

module.exports = { byReadTextFile, byReadable, byRead, byReadSync, byReadFile };
