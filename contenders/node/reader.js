// The Node.js contender of readlab: reads files and URLs with Node's standard library. This file parses the command
// line and starts one session (PROTOCOL.md); it does not read.
'use strict';

const { parse } = require('./request');
const { METHODS } = require('./methods');
const { Refusal, Unavailable } = require('./refusal');
const say = require('./say');
const session = require('./session');

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const USAGE = 'usage: reader.js hello | methods | read METHOD SCAN WORK TARGET [name=value ...]';

/** Runs one whole session and returns the exit code. */
async function converse(words) {
  if (words.length === 1 && words[0] === 'hello') {
    say.hello();
    return 0;
  }
  if (words.length === 1 && words[0] === 'methods') {
    say.hello();
    METHODS.forEach(say.method);
    return 0;
  }
  if (words.length >= 5 && words[0] === 'read') {
    say.hello();
    try {
      await session.serve(parse(words.slice(1)), process.stdin);
      return 0;
    } catch (failure) {
      if (!(failure instanceof Refusal)) throw failure;
      if (failure instanceof Unavailable) say.unavailable(failure.message);
      else say.failed(failure.message);
      return EXIT_FAILED;
    }
  }
  console.error(USAGE);
  return EXIT_USAGE;
}

converse(process.argv.slice(2)).then((code) => process.exit(code));
