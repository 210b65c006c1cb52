// Why there is no reading, and how the cause of a failure is worded.
'use strict';

/** The request is not possible; the message has the reason. */
class Refusal extends Error {}

/** This machine or this target lacks what the method needs. */
class Unavailable extends Refusal {}

/**
 * One line for a failure: the innermost cause, without Node's code and the path (`ENOENT: no such file or directory,
 * open '…'`). A query may be a secret, so none is left in it.
 */
function cause(failure) {
  let inner = failure;
  while (inner.cause ?? inner.errors?.[0]) inner = inner.cause ?? inner.errors[0];
  // The message of TLS has the place in its source.
  const message = inner.code?.startsWith('ERR_SSL') && inner.reason ? inner.reason : inner.message;
  const system = /^[A-Z0-9]+: ([^,]+), /.exec(message);
  const words = system ? system[1] : message || inner.code || String(inner);
  return words.split('\n')[0].replace(/\?\S+/g, '?…');
}

module.exports = { Refusal, Unavailable, cause };
