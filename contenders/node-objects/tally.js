// The consumer of all methods that visit bytes: it counts the bytes and does the work.
'use strict';

const NEWLINE = 0x0a;

function newlinesByLoop(chunk) {
  let newlines = 0;
  for (let i = 0; i < chunk.length; i++) {
    if (chunk[i] === NEWLINE) newlines++;
  }
  return newlines;
}

function newlinesByIndexOf(chunk) {
  let newlines = 0;
  for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) newlines++;
  return newlines;
}

function sumByLoop(chunk) {
  let sum = 0;
  for (let i = 0; i < chunk.length; i++) sum = (sum + chunk[i]) & 0xff;
  return sum;
}

const VISITS = {
  newlines: { loop: newlinesByLoop, indexOf: newlinesByIndexOf },
  sum: { loop: sumByLoop },
  discard: { '-': () => 0 },
};

class Tally {
  constructor(request) {
    this.work = request.work;
    this.visit = VISITS[request.work][request.scan];
    this.bytes = 0;
    this.found = 0;
  }

  take(chunk) {
    this.bytes += chunk.length;
    this.found += this.visit(chunk);
  }

  answer() {
    if (this.work === 'discard') return { bytes: this.bytes };
    return { bytes: this.bytes, [this.work]: this.work === 'sum' ? this.found & 0xff : this.found };
  }
}

module.exports = { Tally };
