// All methods, in the order of the list. For each work `scans` are the ways of visiting the bytes, best first. A
// reading opens, reads the bytes and closes: that is the window, and no byte of the file is kept. With `parts` it reads
// a part of a file, too. `prepare` is called before `ready`: it makes what is kept open with kept=1.
'use strict';

const bytes = require('./bytes');
const fetched = require('./fetch');
const http2 = require('./http2');
const https = require('./https');
const lines = require('./lines');

const BYTES_MAX = 2 ** 30;
const OF_LINES = { newlines: ['-'], lines: ['-'] };
const OF_BYTES = { newlines: ['indexOf', 'loop'], sum: ['loop'], discard: ['-'] };

// The default buffer of file streams.
const BUFFER = { name: 'buffer_bytes', default: 65536, min: 1, max: BYTES_MAX };

// A method that reads from a server, with TLS or without.
const OF_URLS = { reads: 'url', tls: true, scans: OF_BYTES };
const KEPT = { name: 'kept', default: 0, min: 0, max: 1 };
const PART = { name: 'part_bytes', default: 8388608, min: 65536, max: BYTES_MAX };
const CONCURRENCY = { name: 'concurrency', default: 8, min: 1, max: 256 };
const HTTP2_ONLY = { name: 'http', default: 2, min: 2, max: 2 };
// The default of HTTP/2: how many bytes a server sends before the client says that it has read them.
const WINDOW = { name: 'window_bytes', default: 65535, min: 65535, max: 2 ** 31 - 1 };

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
  {
    name: 'fetch',
    about: 'the global fetch, by for await over its body: a Uint8Array every time',
    ...OF_URLS,
    params: [KEPT],
    prepare: fetched.prepare,
    read: fetched.byFetch,
  },
  {
    name: 'https.get',
    about: "get of the modules https and http, by the answer's 'data' events: a Buffer every time",
    ...OF_URLS,
    params: [KEPT],
    prepare: https.prepare,
    read: https.byGet,
  },
  {
    name: 'https.get-ranged',
    about: 'get of the modules https and http: ranges at once, over the connections of one Agent',
    ...OF_URLS,
    params: [PART, CONCURRENCY, KEPT],
    prepare: https.prepare,
    read: https.byRanges,
  },
  {
    name: 'http2',
    about: "the module http2 over TLS: a stream of one session, by its 'data' events",
    ...OF_URLS,
    params: [KEPT, HTTP2_ONLY, WINDOW],
    prepare: http2.prepare,
    read: http2.byHttp2,
  },
];

module.exports = { METHODS };
