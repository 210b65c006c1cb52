// The global `fetch`. It has no client that a program makes: connections stay open by themselves, for as long as the
// library or the server says, and `Connection: close` ends one with its answer.
'use strict';

const server = require('./server');
const { Tally } = require('./tally');

function get(request, meters) {
  meters.request();
  const connection = request.params.kept ? {} : { connection: 'close' };
  return fetch(request.url, { headers: { ...server.headers(), ...connection }, redirect: 'manual' });
}

async function byFetch(request, meters) {
  const tally = new Tally(request);
  const response = await get(request, meters);
  const header = (name) => response.headers.get(name);
  const promised = server.promisedWhole({ status: response.status, header });
  for await (const chunk of response.body ?? []) {
    meters.arrived();
    // A view of the same memory: the search of a Buffer is the fast one.
    tally.take(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
  }
  server.checkLength(tally.bytes, promised);
  return tally.answer();
}

module.exports = { prepare: server.trustCertificates, byFetch };
