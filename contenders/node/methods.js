// All methods, in the order of the list. For each work `scans` are the ways of visiting the bytes, best first. A
// reading opens, reads the bytes and closes: that is the window, and no byte of the file is kept. With
// `parts` it reads a part of a file, too.
'use strict';

const bytes = require('./bytes');
const lines = require('./lines');

const BYTES_MAX = 2 ** 30;
const OF_LINES = { newlines: ['-'], lines: ['-'] };
const OF_BYTES = { newlines: ['indexOf', 'loop'], sum: ['loop'], discard: ['-'] };

// The default buffer of file streams.
const BUFFER = { name: 'buffer_bytes', default: 65536, min: 1, max: BYTES_MAX };

const METHODS = [
  {
    name: 'readline',
    about: "readline over createReadStream, by its 'line' events: a string for every line, decoded from UTF-8",
    scans: OF_LINES,
    params: [BUFFER],
    read: lines.byEvents,
  },
  {
    name: 'readline-for-await',
    about: 'readline over createReadStream, by for await',
    scans: OF_LINES,
    params: [BUFFER],
    read: lines.byForAwait,
  },
  {
    name: 'createReadStream',
    about: "createReadStream, by its 'data' events: a new Buffer every time",
    scans: OF_BYTES,
    params: [BUFFER],
    read: bytes.byStream,
    parts: true,
  },
  {
    name: 'readSync',
    about: 'fs.readSync in a loop into one Buffer',
    scans: OF_BYTES,
    params: [BUFFER],
    read: bytes.byReadSync,
    parts: true,
  },
  {
    name: 'readFileSync',
    about: 'fs.readFileSync: the whole file in one Buffer, below 2 GiB',
    scans: OF_BYTES,
    params: [],
    read: bytes.byReadFileSync,
  },
  {
    name: 'readFile',
    about: 'fs.promises.readFile: the whole file in one Buffer, below 2 GiB, read by other threads',
    scans: OF_BYTES,
    params: [],
    read: bytes.byReadFile,
  },
];

module.exports = { METHODS };
