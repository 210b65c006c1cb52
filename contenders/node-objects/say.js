// The messages of the protocol as lines of flat JSON.
'use strict';

const fs = require('fs');

const PROTOCOL = 1;
const CONTENDER = 'node-objects';
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

function hello(sdk) {
  const version = sdk.version() ? `AWS SDK for JavaScript ${sdk.version()}` : 'no AWS SDK';
  const runtime = `Node.js ${process.version}, V8 ${process.versions.v8}, ${version}`;
  tell(line('hello', { protocol: PROTOCOL, contender: CONTENDER, version: VERSION, runtime }));
}

function method({ name, scans, params, about }, unavailable) {
  tell(line('method', { method: name, scans, params, about, cache: 'through', reads: 'object', unavailable }));
}

const ready = (params) => tell(line('ready', { params }));
const samples = (taken) =>
  tell(taken.map((sample) => line('sample', sample)).join('') + line('done', { count: taken.length }));
const unavailable = (reason) => tell(line('unavailable', { reason }));
const failed = (reason) => tell(line('failed', { reason }));

module.exports = { hello, method, ready, samples, unavailable, failed };
