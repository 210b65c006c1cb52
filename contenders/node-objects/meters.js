// What is measured of one reading: the window's clock, its requests and its first byte.
'use strict';

class Meters {
  constructor() {
    /** What the sample has, by the protocol's names. */
    this.seen = { requests: 0, retries: 0 };
    this.start = process.hrtime.bigint();
  }

  /** Nanoseconds since the window began. */
  elapsed() {
    return Number(process.hrtime.bigint() - this.start);
  }

  /** A request goes out; the SDK counts the attempts of one command from 1. */
  request(attempt) {
    this.seen.requests++;
    if (attempt > 1) this.seen.retries++;
  }

  /** Bytes of the content are there. */
  arrived() {
    this.seen.first_byte_ns ??= this.elapsed();
  }
}

module.exports = { Meters };
