// All methods of Bun, in the order of the list. Those with readdir are not among them: the one of
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
  {
    name: 'Bun.Glob',
    about: 'scan of a Bun.Glob, and bytes of a Bun.file of each regular file, one after the other',
    reads: 'folder',
    scans: OF_BYTES,
    params: [],
    read: files.byGlob,
  },
];

module.exports = { METHODS };
