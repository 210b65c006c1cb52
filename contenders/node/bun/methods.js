// All methods of Bun, in the order of the list. Those of folders are not among them: the readdir of
// Bun follows links.
'use strict';

const { FILE_METHODS, OF_BYTES, OF_LINES } = require('../file_methods');
const files = require('./files');

const METHODS = [
  {
    name: 'Bun.file.text',
    about: 'text of a Bun.file and split: the whole file in one string, decoded from UTF-8, and one for every line',
    scans: OF_LINES,
    params: [],
    read: files.byText,
  },
  {
    name: 'Bun.file.stream',
    about: 'stream of a Bun.file, by for await: a new Uint8Array every time',
    scans: OF_BYTES,
    params: [],
    read: files.byStream,
  },
  {
    name: 'Bun.file.bytes',
    about: 'bytes of a Bun.file: the whole file in one Uint8Array',
    scans: OF_BYTES,
    params: [],
    read: files.byBytes,
  },
  ...FILE_METHODS,
];

module.exports = { METHODS };
