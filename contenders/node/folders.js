// The methods that read every regular file below a folder by the module fs: readdir lists the whole
// tree first, with the kinds of its entries, and follows no links. It decodes names as UTF-8; a file
// of another name is not found by the name that it gives.
'use strict';

const fs = require('fs');
const path = require('path');
const { FileFailure, Unavailable } = require('./refusal');
const { FilesTally, Tally } = require('./tally');

const WHOLE_TREE = { recursive: true, withFileTypes: true };
const REPLACEMENT = '\uFFFD';

/** The path of an entry, whose folder has had two names. */
const pathOf = (entry) => path.join(entry.parentPath ?? entry.path, entry.name);

/** What is thrown for a file that could not be read. */
function failureOf(file, cause) {
  const isNotSpelled = cause.code === 'ENOENT' && file.includes(REPLACEMENT);
  if (isNotSpelled) return new Unavailable(`${file}: the runtime can only spell names in UTF-8`);
  return new FileFailure(file, cause);
}

function tallyOf(request, content) {
  const tally = new Tally(request);
  tally.take(content);
  return tally;
}

async function readFile(request, file) {
  try {
    return tallyOf(request, await fs.promises.readFile(file));
  } catch (cause) {
    throw failureOf(file, cause);
  }
}

function readFileSync(request, file) {
  try {
    return tallyOf(request, fs.readFileSync(file));
  } catch (cause) {
    throw failureOf(file, cause);
  }
}

async function byReaddir(request) {
  const found = new FilesTally(request);
  for (const entry of await fs.promises.readdir(request.path, WHOLE_TREE)) {
    if (entry.isFile()) found.add(await readFile(request, pathOf(entry)));
  }
  return found.answer();
}

/** Each of so many loops takes the next entry of one iterator. */
async function byReaddirConcurrent(request) {
  const found = new FilesTally(request);
  const entries = (await fs.promises.readdir(request.path, WHOLE_TREE)).values();
  const readRest = async () => {
    for (const entry of entries) {
      if (entry.isFile()) found.add(await readFile(request, pathOf(entry)));
    }
  };
  await Promise.all(Array.from({ length: request.params.concurrency }, readRest));
  return found.answer();
}

function byReaddirSync(request) {
  const found = new FilesTally(request);
  for (const entry of fs.readdirSync(request.path, WHOLE_TREE)) {
    if (entry.isFile()) found.add(readFileSync(request, pathOf(entry)));
  }
  return found.answer();
}

module.exports = { byReaddir, byReaddirConcurrent, byReaddirSync, failureOf };
