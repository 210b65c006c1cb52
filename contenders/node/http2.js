// HTTP/2 by the module http2, over TLS: one session, one stream for a reading. A session that the server ended is
// replaced by the next reading.
'use strict';

const http2 = require('http2');
const { once } = require('events');
const { finished } = require('stream/promises');
const { Unavailable } = require('./refusal');
const server = require('./server');
const { Tally } = require('./tally');

function connect(request) {
  const window = request.params.window_bytes;
  const session = http2.connect(request.url.origin, {
    ca: request.certificates,
    rejectUnauthorized: true,
    settings: { initialWindowSize: window, enablePush: false },
  });
  session.once('connect', () => session.setLocalWindowSize(window));
  // Its streams have the error as well.
  session.on('error', () => {});
  return session;
}

/** Reads the certificates; with kept=1 makes the session of all readings. */
function prepare(request) {
  if (request.url.protocol !== 'https:') throw new Unavailable('http2 reads https:// URLs only');
  request.certificates = server.certificates();
  if (request.params.kept) request.session = connect(request);
}

/** The stream of a GET, and its head when it is there. */
async function get(request, session, meters) {
  meters.request();
  const path = request.url.pathname + request.url.search;
  const stream = session.request({ ...server.headers(), ':path': path });
  const [fields] = await once(stream, 'response');
  return { stream, head: { status: fields[':status'], header: (name) => fields[name] } };
}

async function visit(request, session, meters) {
  const tally = new Tally(request);
  const { stream, head } = await get(request, session, meters);
  const promised = server.promisedWhole(head);
  stream.on('data', (chunk) => {
    meters.arrived();
    tally.take(chunk);
  });
  await finished(stream);
  if (stream.rstCode !== http2.constants.NGHTTP2_NO_ERROR) throw new Error(`the stream was reset (${stream.rstCode})`);
  server.checkLength(tally.bytes, promised);
  return tally.answer();
}

async function byHttp2(request, meters) {
  const kept = request.session;
  if (kept && !kept.closed && !kept.destroyed) return visit(request, kept, meters);
  const session = connect(request);
  meters.follow(session.socket, true);
  if (kept) request.session = session;
  const answer = await visit(request, session, meters);
  if (kept) return answer;
  const closed = once(session, 'close');
  session.close();
  await closed;
  return answer;
}

module.exports = { prepare, byHttp2 };
