// The readings of an object: its stream, all of it at once, or ranges of it at once.
'use strict';

const { Clients, close } = require('./client');
const { readParts } = require('./parts');
const { Tally } = require('./tally');

const OK = 200;
const PARTIAL = 206;
const UNSATISFIABLE = 416;

/** Loads the SDK; with kept=1 makes the client of all readings. */
function prepare(request) {
  request.GetObjectCommand = request.sdk.load().GetObjectCommand;
  request.clients = new Clients(request.sdk, request.params);
  if (request.params.kept) request.opened = request.clients.open();
}

/** The output of the command, when the answer's head is there. */
function get(request, { client }, meters, range) {
  const command = new request.GetObjectCommand({
    Bucket: request.bucket,
    Key: request.key,
    IfMatch: process.env.READLAB_ETAG || undefined,
    Range: range && `bytes=${range.start}-${range.start + range.length - 1}`,
  });
  let attempt = 0;
  // After signing, for every attempt.
  const count = (next) => (args) => {
    meters.request(++attempt);
    args.request.headers['accept-encoding'] = 'identity';
    return next(args);
  };
  command.middlewareStack.add(count, { step: 'finalizeRequest', priority: 'low', name: 'readlab' });
  return client.send(command);
}

/** Refuses an answer of another version or in an encoding. */
function checkVersion(output) {
  if (output.ContentEncoding && output.ContentEncoding !== 'identity') {
    throw new Error(`the answer has the content encoding ${output.ContentEncoding}`);
  }
  const asked = process.env.READLAB_ETAG;
  if (asked && output.ETag && output.ETag !== asked) throw new Error(`the ETag is ${output.ETag}, not ${asked}`);
}

function checkWhole(output) {
  const status = output.$metadata.httpStatusCode;
  if (status !== OK) throw new Error(`HTTP status ${status}`);
  checkVersion(output);
}

/** The part that an answer has, of those that were asked for: its length and the size of the whole. */
function partOf(output, { start, length }) {
  const status = output.$metadata.httpStatusCode;
  if (status === OK && start === 0 && output.ContentLength === 0) return { length: 0, size: 0 };
  if (status === OK) throw new Error('the server answers a range with the whole');
  if (status !== PARTIAL) throw new Error(`HTTP status ${status}`);
  checkVersion(output);
  const [, first, last, size] = (/^bytes (\d+)-(\d+)\/(\d+)$/.exec(output.ContentRange) ?? []).map(Number);
  const end = Math.min(start + length, size);
  if (first !== start || last !== end - 1) throw new Error('the server answers with another range');
  checkLength(output.ContentLength ?? end - start, end - start);
  return { length: end - start, size };
}

/** Refuses a body that is shorter or longer than promised. */
function checkLength(received, promised) {
  if (promised !== undefined && received !== promised) {
    throw new Error(`the body has ${received} bytes, not ${promised}`);
  }
}

/** Visits a body to its end; it must have the promised length. */
async function visit(output, promised, tally, meters) {
  let received = 0;
  for await (const chunk of output.Body) {
    meters.arrived();
    received += chunk.length;
    tally.take(chunk);
  }
  checkLength(received, promised);
}

/** Reads with the kept client, or with one of its own. */
async function withClient(request, read) {
  const tally = new Tally(request);
  const opened = request.opened ?? request.clients.open();
  await read(opened, tally);
  if (opened !== request.opened) await close(opened);
  return tally.answer();
}

const byStream = (request, meters) =>
  withClient(request, async (opened, tally) => {
    const output = await get(request, opened, meters);
    checkWhole(output);
    await visit(output, output.ContentLength, tally, meters);
  });

const byByteArray = (request, meters) =>
  withClient(request, async (opened, tally) => {
    const output = await get(request, opened, meters);
    checkWhole(output);
    output.Body.once('data', () => meters.arrived());
    const { buffer, byteOffset, byteLength } = await output.Body.transformToByteArray();
    checkLength(byteLength, output.ContentLength);
    // A view of the same memory: the search of a Buffer is the fast one.
    tally.take(Buffer.from(buffer, byteOffset, byteLength));
  });

const byRanges = (request, meters) =>
  withClient(request, (opened, tally) =>
    readParts(request.params, async (range) => {
      try {
        const output = await get(request, opened, meters, range);
        const { length, size } = partOf(output, range);
        return { size, body: () => visit(output, length, tally, meters) };
      } catch (failure) {
        // There is no part of nothing.
        if (range.start > 0 || failure.$metadata?.httpStatusCode !== UNSATISFIABLE) throw failure;
        return { size: 0, body: async () => {} };
      }
    }),
  );

module.exports = { prepare, byStream, byByteArray, byRanges };
