// Why there is no reading, and how the cause of a failure is worded.
'use strict';

/** The request is not possible; the message has the reason. */
class Refusal extends Error {}

/** This machine or this target lacks what the method needs. */
class Unavailable extends Refusal {}

/** One of several files was not read. */
class FileFailure extends Error {
  constructor(path, cause) {
    super(path, { cause });
    this.path = path;
  }
}

/** Bun has other words for it, without the code. */
const IS_DIRECTORY = 'EISDIR';

/**
 * One line for a failure: the innermost cause, without the code and the path, by Node's words
 * (`ENOENT: no such file or directory, open '…'`) or Deno's (`No such file or directory (os error
 * 2): open '…'`). A query may be a secret, so none is left in it.
 */
function cause(failure) {
  let inner = failure;
  while (inner.cause ?? inner.errors?.[0]) inner = inner.cause ?? inner.errors[0];
  // The message of TLS has the place in its source.
  const message = inner.code?.startsWith('ERR_SSL') && inner.reason ? inner.reason : inner.message;
  if (inner.code === IS_DIRECTORY) return 'is a directory';
  const system = /^[A-Z0-9]+: ([^,]+), /.exec(message) ?? /^(.+) \(os error \d+\)/.exec(message);
  const words = system ? system[1] : message || inner.code || String(inner);
  return words.split('\n')[0].replace(/\?\S+/g, '?…');
}

module.exports = { FileFailure, Refusal, Unavailable, cause };
