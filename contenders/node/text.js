// The methods that decode the whole file into one string, and split it at its newlines only.
'use strict';

const fs = require('fs');

function byReadFileSync(request) {
  return linesOf(fs.readFileSync(request.path, 'utf8'));
}

/** The proof of a text; an unterminated last line counts. */
function linesOf(text) {
  const lines = text.split('\n');
  return { lines: lines.at(-1) === '' ? lines.length - 1 : lines.length };
}

module.exports = { byReadFileSync, linesOf };
