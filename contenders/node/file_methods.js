// The methods that read files by the module fs, in the order of the list; Bun and Deno have them as
// well. For each work `scans` are the ways of visiting the bytes, best first. A reading opens,
// reads the bytes and closes: that is the window, and no byte of the file is kept. With `parts` it
// reads a part of a file, too.
'use strict';

const bytes = require('./bytes');
const lines = require('./lines');
const text = require('./text');

const BYTES_MAX = 2 ** 30;
const OF_LINES = { newlines: ['-'], lines: ['-'] };
const OF_BYTES = { newlines: ['indexOf', 'loop'], sum: ['loop'], discard: ['-'] };

const [MAJOR, MINOR] = process.versions.node.split('.').map(Number);
const NO_READ_LINES = MAJOR === 18 && MINOR < 11 ? `Node.js has it from 18.11 on; this is ${process.version}` : undefined;

// The default buffer of file streams.
const BUFFER = { name: 'buffer_bytes', default: 65536, min: 1, max: BYTES_MAX };

const FILE_METHODS = [
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
    name: 'filehandle.readLines',
    about: 'readLines of a FileHandle, by for await: a string for every line, decoded from UTF-8',
    scans: OF_LINES,
    params: [BUFFER],
    read: lines.byFileHandle,
    unavailable: NO_READ_LINES,
  },
  {
    name: 'readFileSync-utf8',
    about: "fs.readFileSync with 'utf8' and split: the whole file in one string, below 512 MiB, and one for every line",
    scans: OF_LINES,
    params: [],
    read: text.byReadFileSync,
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
    name: 'createReadStream-for-await',
    about: 'createReadStream, by for await: a new Buffer every time',
    scans: OF_BYTES,
    params: [BUFFER],
    read: bytes.byStreamForAwait,
  },
  {
    name: 'pipeline',
    about: 'createReadStream, by a pipeline into a Writable',
    scans: OF_BYTES,
    params: [BUFFER],
    read: bytes.byPipeline,
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
    name: 'filehandle.read',
    about: 'read of a FileHandle in a loop into one Buffer, by other threads',
    scans: OF_BYTES,
    params: [BUFFER],
    read: bytes.byFileHandle,
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

module.exports = { BUFFER, BYTES_MAX, FILE_METHODS, OF_BYTES, OF_LINES };
