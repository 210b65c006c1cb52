// The methods that read many bytes at a time.
'use strict';

const fs = require('fs');
const { once } = require('events');
const { Tally } = require('./tally');

async function byStream(request) {
  const tally = new Tally(request);
  const { part } = request;
  if (part?.length === 0) return tally.answer();
  const bounds = part ? { start: part.start, end: part.start + part.length - 1 } : {};
  const stream = fs.createReadStream(request.path, { highWaterMark: request.params.buffer_bytes, ...bounds });
  stream.on('data', (chunk) => tally.take(chunk));
  await once(stream, 'close');
  return tally.answer();
}

function byReadSync(request) {
  const tally = new Tally(request);
  const file = fs.openSync(request.path, 'r');
  try {
    const buffer = Buffer.allocUnsafe(request.params.buffer_bytes);
    let { start: position, length: left } = request.part ?? { start: null, length: Infinity };
    for (let length; (length = fs.readSync(file, buffer, 0, Math.min(left, buffer.length), position)) > 0; ) {
      tally.take(buffer.subarray(0, length));
      left -= length;
      if (position !== null) position += length;
    }
  } finally {
    fs.closeSync(file);
  }
  return tally.answer();
}

function byReadFileSync(request) {
  const tally = new Tally(request);
  tally.take(fs.readFileSync(request.path));
  return tally.answer();
}

async function byReadFile(request) {
  const tally = new Tally(request);
  tally.take(await fs.promises.readFile(request.path));
  return tally.answer();
}

module.exports = { byStream, byReadSync, byReadFileSync, byReadFile };
