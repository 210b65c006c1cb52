// What a request to a server needs: its headers, the certificates that are trusted, and the checks of an answer before
// its bytes are visited. An answer is `{ status, header(name) }`, whichever client it is of.
'use strict';

const fs = require('fs');
const tls = require('tls');
const { Refusal, cause } = require('./refusal');

const OK = 200;
const PARTIAL = 206;
const UNSATISFIABLE = 416;

// Certificates are verified, whatever the user's environment says.
delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;

/** The headers of every request; the version that is read is fixed by its ETag. */
function headers(range) {
  const etag = process.env.READLAB_ETAG;
  return {
    'accept-encoding': 'identity',
    ...(etag && { 'if-match': etag }),
    ...(range && { range: `bytes=${range.start}-${range.start + range.length - 1}` }),
  };
}

/** The certificates in the file that the lab names; undefined for those that Node trusts by itself. */
function certificates() {
  const file = process.env.READLAB_CACERT;
  if (!file) return undefined;
  try {
    return fs.readFileSync(file, 'utf8').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  } catch (failure) {
    throw new Refusal(`${file}: ${cause(failure)}`);
  }
}

/** Trusts only the lab's certificates in clients that take none, as `fetch`. */
function trustCertificates() {
  const ca = certificates();
  if (!ca) return;
  if (tls.setDefaultCACertificates) {
    tls.setDefaultCACertificates(ca);
    return;
  }
  // Before Node.js 22.19 the default is only changed when Node starts, and then only grows.
  const { connect } = tls;
  tls.connect = (options, ...others) => connect({ ca, ...options }, ...others);
}

/** Refuses an answer of another version or in another encoding than was asked for. */
function checkVersion(answer) {
  const encoding = answer.header('content-encoding');
  if (encoding && encoding !== 'identity') throw new Error(`the answer has the content encoding ${encoding}`);
  const asked = process.env.READLAB_ETAG;
  const etag = answer.header('etag');
  if (asked && etag && etag !== asked) throw new Error(`the ETag is ${etag}, not ${asked}`);
}

/** The number of bytes that the answer to a whole GET promises; null if it promises none. */
function promisedWhole(answer) {
  if (answer.status !== OK) throw new Error(`HTTP status ${answer.status}`);
  checkVersion(answer);
  const length = answer.header('content-length');
  return length ? Number(length) : null;
}

/** Whether there is no first byte: a server refuses the range, mostly with the size, or answers with all of nothing. */
function isEmpty(answer, size) {
  if (answer.status === UNSATISFIABLE) return !Number(size ?? 0);
  return answer.status === OK && promisedWhole(answer) === 0;
}

/** The part that an answer promises: its length and the size of the whole. Size 0 if there is nothing to read. */
function promisedPart(answer, { start, length }) {
  const [, first, last, size] = /^bytes (?:(\d+)-(\d+)|\*)\/(\d+)$/.exec(answer.header('content-range') ?? '') ?? [];
  if (start === 0 && isEmpty(answer, size)) return { length: 0, size: 0 };
  if (answer.status === OK) throw new Error('the server answers a range with the whole');
  if (answer.status !== PARTIAL) throw new Error(`HTTP status ${answer.status}`);
  checkVersion(answer);
  const end = Math.min(start + length, Number(size));
  if (Number(first) !== start || Number(last) !== end - 1) throw new Error('the server answers with another range');
  const promised = answer.header('content-length');
  if (promised && Number(promised) !== end - start) throw new Error('the answer is shorter or longer than its range');
  return { length: end - start, size: Number(size) };
}

/** Refuses a body that is shorter or longer than promised. */
function checkLength(received, promised) {
  if (promised !== null && received !== promised) throw new Error(`the body has ${received} bytes, not ${promised}`);
}

module.exports = { headers, certificates, trustCertificates, promisedWhole, promisedPart, checkLength };
