// The methods that read many bytes at a time.
'use strict';

const fs = require('fs');
const { once } = require('events');
const { Writable } = require('stream');
const { pipeline } = require('stream/promises');
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

async function byStreamForAwait(request) {
  const tally = new Tally(request);
  const stream = fs.createReadStream(request.path, { highWaterMark: request.params.buffer_bytes });
  const closed = once(stream, 'close');
  const visited = (async () => {
    for await (const chunk of stream) tally.take(chunk);
  })();
  await Promise.all([closed, visited]);
  return tally.answer();
}

async function byPipeline(request) {
  const tally = new Tally(request);
  const stream = fs.createReadStream(request.path, { highWaterMark: request.params.buffer_bytes });
  const visitor = new Writable({
    write(chunk, _encoding, done) {
      tally.take(chunk);
      done();
    },
  });
  await Promise.all([once(stream, 'close'), pipeline(stream, visitor)]);
  return tally.answer();
}

async function byFileHandle(request) {
  const tally = new Tally(request);
  const file = await fs.promises.open(request.path);
  try {
    const buffer = Buffer.allocUnsafe(request.params.buffer_bytes);
    for (let bytesRead; ({ bytesRead } = await file.read(buffer)), bytesRead > 0; ) {
      tally.take(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
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

module.exports = {
  byStream, byStreamForAwait, byPipeline, byReadSync, byFileHandle, byReadFileSync, byReadFile,
};
