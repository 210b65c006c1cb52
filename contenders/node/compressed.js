// The methods that decode compressed files by the module zlib, of Node.js alone.
'use strict';

const fs = require('fs');
const { once } = require('events');
const { Writable } = require('stream');
const { pipeline } = require('stream/promises');
const zlib = require('zlib');
const { BUFFER, OF_BYTES } = require('./file_methods');
const { Tally } = require('./tally');

/** A pipeline of a file, a decoder and a Writable that visits what comes out. */
const by = (create, padded = false) => async (request) => {
  const tally = new Tally(request);
  const chunks = { highWaterMark: request.params.buffer_bytes };
  const file = fs.createReadStream(request.path, chunks);
  const decoder = create();
  const visitor = new Writable({
    write(chunk, _encoding, done) {
      tally.take(chunk);
      done();
    },
  });
  await Promise.all([once(file, 'close'), pipeline(file, decoder, visitor)]);
  // A decoder takes other bytes after the end for the end, and does not count them.
  const isWhole = decoder.bytesWritten === file.bytesRead || padded && isZeroFrom(request.path, decoder.bytesWritten);
  if (!isWhole) throw new Error('bytes follow the end of what is compressed');
  return tally.answer();
};

/** Whether a file has nothing but zeros from a byte on: gzip takes them for padding. */
function isZeroFrom(path, at) {
  const file = fs.openSync(path);
  try {
    const chunk = Buffer.alloc(1 << 16);
    for (let count; (count = fs.readSync(file, chunk, 0, chunk.length, at)) > 0; at += count) {
      if (chunk.subarray(0, count).some((byte) => byte !== 0)) return false;
    }
    return true;
  } finally {
    fs.closeSync(file);
  }
}

const SOME = { scans: OF_BYTES, params: [BUFFER] };

const DECODERS = [
  {
    name: 'createGunzip',
    about: 'createReadStream, by a pipeline through createGunzip into a Writable',
    ...SOME,
    decodes: ['gzip'],
    read: by(() => zlib.createGunzip(), true),
  },
  {
    name: 'createBrotliDecompress',
    about: 'createReadStream, by a pipeline through createBrotliDecompress into a Writable',
    ...SOME,
    decodes: ['brotli'],
    read: by(() => zlib.createBrotliDecompress()),
  },
  {
    name: 'createZstdDecompress',
    about: 'createReadStream, by a pipeline through createZstdDecompress into a Writable',
    ...SOME,
    decodes: ['zstd'],
    read: by(() => zlib.createZstdDecompress()),
    unavailable: zlib.createZstdDecompress ? undefined : `Node.js has it from 22.15 on; this is ${process.version}`,
  },
];

module.exports = { DECODERS };
