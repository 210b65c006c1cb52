// All methods of Deno, in the order of the list.
'use strict';

const { BUFFER, FILE_METHODS, OF_BYTES, OF_LINES } = require('../file_methods');
const { FOLDER_METHODS } = require('../folder_methods');
const files = require('./files');

const METHODS = [
  {
    name: 'Deno.readTextFile',
    about: 'Deno.readTextFile and split: the whole file in one string, decoded from UTF-8, and one for every line',
    scans: OF_LINES,
    params: [],
    read: files.byReadTextFile,
  },
  {
    name: 'Deno.open-readable',
    about: 'readable of an open file, by for await: a new Uint8Array every time',
    scans: OF_BYTES,
    params: [],
    read: files.byReadable,
  },
  {
    name: 'Deno.open-read',
    about: 'read of an open file in a loop into one Uint8Array, by other threads',
    scans: OF_BYTES,
    params: [BUFFER],
    read: files.byRead,
  },
  {
    name: 'Deno.openSync-readSync',
    about: 'readSync of an open file in a loop into one Uint8Array',
    scans: OF_BYTES,
    params: [BUFFER],
    read: files.byReadSync,
  },
  {
    name: 'Deno.readFile',
    about: 'Deno.readFile: the whole file in one Uint8Array',
    scans: OF_BYTES,
    params: [],
    read: files.byReadFile,
  },
  ...FILE_METHODS,
  ...FOLDER_METHODS,
];

module.exports = { METHODS };
