// The modules http and https, which are one interface: a whole answer, or ranges of it at once. Connections are those
// of an Agent, which a program makes. Ranges of one reading share connections; with kept=1 the readings do, too.
'use strict';

const http = require('http');
const https = require('https');
const { finished } = require('stream/promises');
const { readParts } = require('./parts');
const server = require('./server');
const { Tally } = require('./tally');

const moduleOf = (url) => (url.protocol === 'https:' ? https : http);

function newAgent(request) {
  const keepAlive = request.params.kept === 1 || 'concurrency' in request.params;
  return new (moduleOf(request.url).Agent)({ keepAlive, ca: request.certificates, rejectUnauthorized: true });
}

/** Reads the certificates; with kept=1 makes the agent of all readings. */
function prepare(request) {
  request.certificates = server.certificates();
  if (request.params.kept) request.agent = newAgent(request);
}

/** The answer to a GET, when its head is there. */
function get(request, agent, meters, range) {
  return new Promise((resolve, reject) => {
    meters.request();
    const sent = moduleOf(request.url).get(request.url, { agent, headers: server.headers(range) }, resolve);
    sent.on('error', reject);
    sent.once('socket', (socket) => {
      if (!sent.reusedSocket) meters.follow(socket, request.url.protocol === 'https:');
    });
  });
}

const head = (response) => ({ status: response.statusCode, header: (name) => response.headers[name] });

/** Visits a body to its end; it must have the promised length. */
async function visit(response, promised, tally, meters) {
  let received = 0;
  response.on('data', (chunk) => {
    meters.arrived();
    received += chunk.length;
    tally.take(chunk);
  });
  try {
    await finished(response);
  } catch {
    throw new Error(`the connection ended after ${received} bytes of the body`);
  }
  server.checkLength(received, promised);
}

/** Closes an agent with its connections. */
async function close(agent) {
  const sockets = [agent.sockets, agent.freeSockets].flatMap((byServer) => Object.values(byServer).flat());
  agent.destroy();
  await Promise.all(sockets.map((socket) => socket.closed || new Promise((done) => socket.once('close', done))));
}

/** Reads with the kept agent, or with one of its own. */
async function withAgent(request, read) {
  const agent = request.agent ?? newAgent(request);
  await read(agent);
  if (agent !== request.agent) await close(agent);
}

async function byGet(request, meters) {
  const tally = new Tally(request);
  await withAgent(request, async (agent) => {
    const response = await get(request, agent, meters);
    await visit(response, server.promisedWhole(head(response)), tally, meters);
  });
  return tally.answer();
}

async function byRanges(request, meters) {
  const tally = new Tally(request);
  await withAgent(request, async (agent) => {
    await readParts(request.params, async (range) => {
      const response = await get(request, agent, meters, range);
      const { length, size } = server.promisedPart(head(response), range);
      // There is no part of nothing: what comes then is the server's page about it.
      if (size === 0) return { size, body: async () => response.resume() };
      return { size, body: () => visit(response, length, tally, meters) };
    });
  });
  return tally.answer();
}

module.exports = { prepare, byGet, byRanges };
