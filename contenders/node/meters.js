// What is measured of one reading: the window's clock, and what a method that reads from a server sees on the way.
'use strict';

class Meters {
  constructor() {
    /** What the sample has, by the protocol's names; a file's reading leaves it empty. */
    this.seen = {};
    this.start = process.hrtime.bigint();
  }

  /** Nanoseconds since the window began. */
  elapsed() {
    return Number(process.hrtime.bigint() - this.start);
  }

  /** A request goes out. */
  request() {
    this.seen.requests = (this.seen.requests ?? 0) + 1;
    this.seen.retries = 0;
  }

  /** Bytes of the content are there. */
  arrived() {
    this.seen.first_byte_ns ??= this.elapsed();
  }

  /** Follows a new socket until it is connected and encrypted; only the reading's first connection. */
  follow(socket, isEncrypted) {
    if (this.isFollowing) return;
    this.isFollowing = true;
    let before = this.elapsed();
    const phase = (name) => () => {
      const now = this.elapsed();
      this.seen[name] = now - before;
      before = now;
    };
    // An address is not looked up: it has no such event.
    socket.once('lookup', phase('dns_ns'));
    socket.once('connect', phase('connect_ns'));
    if (isEncrypted) socket.once('secureConnect', phase('tls_ns'));
  }
}

module.exports = { Meters };
