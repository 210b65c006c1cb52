// The messages of the protocol as lines of flat JSON.
'use strict';

const fs = require('fs');

const PROTOCOL = 1;
const VERSION = '0.1.0';
const STDOUT = 1;

function line(word, fields) {
  return `${JSON.stringify({ say: word, ...fields })}\n`;
}

// The write is complete before the program continues or exits, also to a pipe.
function tell(lines) {
  let rest = Buffer.from(lines);
  while (rest.length > 0) rest = rest.subarray(fs.writeSync(STDOUT, rest));
}

function hello({ name, runtime }) {
  tell(line('hello', { protocol: PROTOCOL, contender: name, version: VERSION, runtime }));
}

function method(listed) {
  const { name, scans, params, about, reads, decodes, tls, parts, unavailable } = listed;
  const kinds = { reads, decodes, tls, parts, unavailable };
  tell(line('method', { method: name, scans, params, about, cache: 'through', ...kinds }));
}

const ready = (params) => tell(line('ready', { params }));
const samples = (taken) =>
  tell(taken.map((sample) => line('sample', sample)).join('') + line('done', { count: taken.length }));
const unavailable = (reason) => tell(line('unavailable', { reason }));
const failed = (reason) => tell(line('failed', { reason }));

module.exports = { hello, method, ready, samples, unavailable, failed };
