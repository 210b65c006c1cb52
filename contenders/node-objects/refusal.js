// Why there is no reading, and how the cause of a failure is worded.
'use strict';

/** The request is not possible; the message has the reason. */
class Refusal extends Error {}

/** This machine lacks what the contender needs. */
class Unavailable extends Refusal {}

/**
 * One line for a failure. An exception of the SDK for an answer is worded by its code and status: its text is the
 * server's. Of any other the innermost cause is shown, without Node's code and a path, and without what may be the query
 * of a URL.
 */
function cause(failure) {
  const status = failure.$metadata?.httpStatusCode;
  if (status) return `${/^(Unknown|Error)/.test(failure.name) ? '' : `${failure.name}, `}HTTP status ${status}`;
  let inner = failure;
  while (inner.cause ?? inner.errors?.[0]) inner = inner.cause ?? inner.errors[0];
  if (inner.message === 'aborted') return 'the connection ended before the body did';
  const message = inner.code?.startsWith('ERR_SSL') && inner.reason ? inner.reason : inner.message;
  const system = /^[A-Z0-9]+: ([^,]+), /.exec(message);
  const words = system ? system[1] : message || inner.code || String(inner);
  return words.split('\n')[0].replace(/\?\S+/g, '?…');
}

module.exports = { Refusal, Unavailable, cause };
