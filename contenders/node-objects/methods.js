// All methods, in the order of the list. For each work `scans` are the ways of visiting the bytes, best first. A
// reading requests, visits the bytes and closes: that is the window. `prepare` is called before `ready`.
'use strict';

const objects = require('./objects');

const OF_BYTES = { newlines: ['indexOf', 'loop'], sum: ['loop'], discard: ['-'] };
// The documentation of the SDK advises one client for all requests.
const KEPT = { name: 'kept', default: 1, min: 0, max: 1 };
const PART = { name: 'part_bytes', default: 8388608, min: 65536, max: 1073741824 };
const CONCURRENCY = { name: 'concurrency', default: 8, min: 1, max: 256 };

const METHODS = [
  {
    name: 'GetObjectCommand',
    about: 'GetObjectCommand of the AWS SDK for JavaScript v3, by for await over its Body: a Buffer every time',
    scans: OF_BYTES,
    params: [KEPT],
    prepare: objects.prepare,
    read: objects.byStream,
  },
  {
    name: 'GetObjectCommand-bytes',
    about: 'GetObjectCommand and transformToByteArray of its Body: the whole object in one Uint8Array',
    scans: OF_BYTES,
    params: [KEPT],
    prepare: objects.prepare,
    read: objects.byByteArray,
  },
  {
    name: 'GetObjectCommand-ranged',
    about: 'GetObjectCommands with ranges at once, over the connections of one client',
    scans: OF_BYTES,
    params: [PART, CONCURRENCY, KEPT],
    prepare: objects.prepare,
    read: objects.byRanges,
  },
];

module.exports = { METHODS };
