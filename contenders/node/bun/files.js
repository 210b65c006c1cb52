// The methods of Bun.file. Bun.mmap is not among them: only the collector ends its mapping, at a
// time of its own.
'use strict';

const { Tally } = require('../tally');
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

module.exports = { byText, byStream, byBytes };
