// All methods of Node.js, in the order of the list: those of files and folders, and those that
// read from a server. `prepare` is called before `ready`: it makes what is kept open with kept=1.
'use strict';

const { DECODERS } = require('./compressed');
const fetched = require('./fetch');
const { BYTES_MAX, FILE_METHODS, OF_BYTES } = require('./file_methods');
const { CONCURRENCY, FOLDER_METHODS } = require('./folder_methods');
const http2 = require('./http2');
const https = require('./https');

// A method that reads from a server, with TLS or without.
const OF_URLS = { reads: 'url', tls: true, scans: OF_BYTES };
const KEPT = { name: 'kept', default: 0, min: 0, max: 1 };
const PART = { name: 'part_bytes', default: 8388608, min: 65536, max: BYTES_MAX };
const HTTP2_ONLY = { name: 'http', default: 2, min: 2, max: 2 };
// The default of HTTP/2: how many bytes a server sends before the client says that it has read them.
const WINDOW = { name: 'window_bytes', default: 65535, min: 65535, max: 2 ** 31 - 1 };

const METHODS = [
  ...FILE_METHODS,
  ...FOLDER_METHODS,
  ...DECODERS,
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
