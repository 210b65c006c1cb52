// The methods of Bun.file and Bun.Glob. Bun.mmap is not among them: only the collector ends its
// mapping, at a time of its own.
'use strict';

const path = require('path');
const { failureOf } = require('../folders');
const { FilesTally, Tally } = require('../tally');
const { linesOf } = require('../text');

async function byText(request) {
  return linesOf(await Bun.file(request.path).text());
}

async function byStream(request) {
  const tally = new Tally(request);
  for await (const chunk of Bun.file(request.path).stream()) tally.take(chunk);
  return tally.answer();
}

async function byBytes(request) {
  const tally = new Tally(request);
  tally.take(await Bun.file(request.path).bytes());
  return tally.answer();
}

/** A Glob lists regular files only, and follows no links unless it is told to. */
async function byGlob(request) {
  const found = new FilesTally(request);
  for await (const name of new Bun.Glob('**/*').scan({ cwd: request.path, dot: true })) {
    const file = path.join(request.path, name);
    try {
      const tally = new Tally(request);
      tally.take(await Bun.file(file).bytes());
      found.add(tally);
    } catch (cause) {
      throw failureOf(file, cause);
    }
  }
  return found.answer();
}

module.exports = { byText, byStream, byBytes, byGlob };
