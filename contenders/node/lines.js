// The methods that return lines. An unterminated last line counts. For readline, a CR without LF, U+2028 and U+2029
// end a line as well.
'use strict';

const fs = require('fs');
const { once } = require('events');
const readline = require('readline');

function open(request) {
  const input = fs.createReadStream(request.path, { highWaterMark: request.params.buffer_bytes });
  return { input, lines: readline.createInterface({ input, crlfDelay: Infinity }) };
}

async function byEvents(request) {
  const { input, lines } = open(request);
  const closed = once(input, 'close');
  let count = 0;
  lines.on('line', () => count++);
  await Promise.all([closed, once(lines, 'close')]);
  return { lines: count };
}

async function byForAwait(request) {
  const { input, lines } = open(request);
  const closed = once(input, 'close');
  let count = 0;
  for await (const _ of lines) count++;
  await closed;
  return { lines: count };
}

/**
 * By itself the stream closes the file some time after the last line. Without autoClose it does not,
 * and `close` waits until the file is closed.
 */
async function byFileHandle(request) {
  const file = await fs.promises.open(request.path);
  try {
    let count = 0;
    const options = { highWaterMark: request.params.buffer_bytes, autoClose: false };
    for await (const _ of file.readLines(options)) count++;
    return { lines: count };
  } finally {
    await file.close();
  }
}

module.exports = { byEvents, byForAwait, byFileHandle };
