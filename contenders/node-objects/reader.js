// The Node.js contender of readlab that reads objects of S3 stores, by the AWS SDK for JavaScript v3. This file parses
// the command line, whose first word is the folder of the SDK, and starts one session (PROTOCOL.md); it does not read.
'use strict';

const { parse } = require('./request');
const { METHODS } = require('./methods');
const { Refusal, Unavailable } = require('./refusal');
const say = require('./say');
const { Sdk } = require('./sdk');
const session = require('./session');

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const USAGE = 'usage: reader.js SDK_FOLDER hello | methods | read METHOD SCAN WORK TARGET [name=value ...]';

/** Runs one whole session and returns the exit code. */
async function converse([folder = '', ...words]) {
  const sdk = new Sdk(folder);
  if (words.length === 1 && words[0] === 'hello') {
    say.hello(sdk);
    return 0;
  }
  if (words.length === 1 && words[0] === 'methods') {
    say.hello(sdk);
    METHODS.forEach((method) => say.method(method, sdk.missing()));
    return 0;
  }
  if (words.length >= 5 && words[0] === 'read') {
    say.hello(sdk);
    try {
      await session.serve(parse(words.slice(1), sdk), process.stdin);
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
