// One session of a contender of this folder (PROTOCOL.md): it parses the command line and does not
// read. A contender has a `name`, its `runtime` in words, and its `methods`; with `onlyText`, its
// methods take paths as strings only.
'use strict';

const { parse } = require('./request');
const { Refusal, Unavailable } = require('./refusal');
const say = require('./say');
const session = require('./session');

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const USAGE = 'usage: reader.js hello | methods | read METHOD SCAN WORK TARGET [name=value ...]';

/** Runs one whole session and returns the exit code. */
async function converse(contender, words) {
  if (words.length === 1 && words[0] === 'hello') {
    say.hello(contender);
    return 0;
  }
  if (words.length === 1 && words[0] === 'methods') {
    say.hello(contender);
    contender.methods.forEach(say.method);
    return 0;
  }
  if (words.length >= 5 && words[0] === 'read') {
    say.hello(contender);
    return read(contender, words.slice(1));
  }
  console.error(USAGE);
  return EXIT_USAGE;
}

async function read(contender, words) {
  try {
    await session.serve(parse(contender, words), process.stdin);
    return 0;
  } catch (failure) {
    if (!(failure instanceof Refusal)) throw failure;
    if (failure instanceof Unavailable) say.unavailable(failure.message);
    else say.failed(failure.message);
    return EXIT_FAILED;
  }
}

/** Runs the session of this process's arguments, and exits. */
function main(contender) {
  converse(contender, process.argv.slice(2)).then((code) => process.exit(code));
}

module.exports = { main };
