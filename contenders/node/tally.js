// The consumers of all methods that visit bytes: they count the bytes and do the work.
'use strict';

const NEWLINE = 0x0a;
/** The numbers of a file are taken modulo this in the proof of several (PROTOCOL.md). */
const PROOF_MODULUS = 65521;

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

  /** What the work counts. */
  value() {
    if (this.work === 'discard') return this.bytes;
    return this.work === 'sum' ? this.found & 0xff : this.found;
  }

  answer() {
    return this.work === 'discard' ? { bytes: this.bytes } : { bytes: this.bytes, [this.work]: this.value() };
  }
}

/** Adds up several files, and proves each of them. */
class FilesTally {
  constructor(request) {
    this.all = new Tally(request);
    this.files = 0;
    this.products = 0;
  }

  /** Adds the tally of one file. */
  add(file) {
    this.all.bytes += file.bytes;
    this.all.found += file.found;
    this.files++;
    this.products += ((file.bytes % PROOF_MODULUS) + 1) * ((file.value() % PROOF_MODULUS) + 1);
    this.products %= 2 ** 32;
  }

  answer() {
    return { ...this.all.answer(), files: this.files, products: this.products };
  }
}

module.exports = { FilesTally, Tally };
