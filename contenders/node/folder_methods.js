// The methods that read every file below a folder by the module fs, in the order of the list; Deno
// has them as well.
'use strict';

const { OF_BYTES } = require('./file_methods');
const folders = require('./folders');

// Older ones list a folder without those below it.
const [MAJOR, MINOR] = process.versions.node.split('.').map(Number);
const HAS_RECURSIVE = MAJOR > 20 || (MAJOR === 20 && MINOR > 0) || (MAJOR === 18 && MINOR > 16);
const NO_RECURSIVE = HAS_RECURSIVE ? undefined : `Node.js has it from 18.17 and 20.1 on; this is ${process.version}`;
const OF_FOLDERS = { reads: 'folder', scans: OF_BYTES, unavailable: NO_RECURSIVE };

// How many files or requests are open at once.
const CONCURRENCY = { name: 'concurrency', default: 8, min: 1, max: 256 };

const FOLDER_METHODS = [
  {
    name: 'readdir',
    about: 'fs.promises.readdir of a whole tree, and fs.promises.readFile of each regular file, one after the other',
    ...OF_FOLDERS,
    params: [],
    read: folders.byReaddir,
  },
  {
    name: 'readdir-concurrent',
    about: 'fs.promises.readdir of a whole tree, and fs.promises.readFile of regular files, so many at once',
    ...OF_FOLDERS,
    params: [CONCURRENCY],
    read: folders.byReaddirConcurrent,
  },
  {
    name: 'readdirSync',
    about: 'fs.readdirSync of a whole tree, and fs.readFileSync of each regular file',
    ...OF_FOLDERS,
    params: [],
    read: folders.byReaddirSync,
  },
];

module.exports = { CONCURRENCY, FOLDER_METHODS };
