// The target: a path by its exact bytes, or a URL. The word `-` stands for a URL that is in the environment, because
// its query is a secret.
'use strict';

const fs = require('fs');
const { Refusal, Unavailable } = require('./refusal');

const NUL = 0;
const ELSEWHERE = '-';

/**
 * The exact bytes of the word at this place of `read`'s words. Node decodes its arguments as UTF-8 and loses other
 * bytes; /proc has them.
 */
function exactBytes(words, index) {
  const line = fs.readFileSync('/proc/self/cmdline');
  const parts = [];
  for (let start = 0; start < line.length; ) {
    const end = line.indexOf(NUL, start);
    parts.push(line.subarray(start, end));
    start = end + 1;
  }
  return parts[parts.length - words.length + index];
}

/** The URL that a word means. An error of parsing would repeat it, so it has other words. */
function urlOf(word) {
  const text = word === ELSEWHERE ? process.env.READLAB_TARGET : word;
  if (!text) throw new Refusal('the target is -, and READLAB_TARGET is not set');
  let url;
  try {
    url = new URL(text);
  } catch {
    throw new Refusal('the target is not a URL');
  }
  if (!['http:', 'https:'].includes(url.protocol)) throw new Refusal('the target is not an http:// or https:// URL');
  return url;
}

/**
 * The path by its bytes, or as text for a runtime or a method that takes no other. With a name that
 * is not UTF-8 it would open another file.
 */
function pathOf(contender, method, words, index) {
  const path = exactBytes(words, index);
  if (!contender.onlyText && method.reads !== 'folder') return path;
  if (path.equals(Buffer.from(words[index]))) return words[index];
  throw new Unavailable(`${words[index]}: ${contender.name} can only spell names in UTF-8`);
}

/** What a method reads, and how messages show it: a URL has no query and no user there. */
function targetOf(contender, method, words, index) {
  if (method.reads === 'url') {
    const url = urlOf(words[index]);
    return { url, shown: `${url.origin}${url.pathname}` };
  }
  return { path: pathOf(contender, method, words, index), shown: words[index] };
}

module.exports = { targetOf };
