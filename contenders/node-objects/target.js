// The target: `s3://BUCKET/KEY`, with the key as it is.
'use strict';

const { Refusal } = require('./refusal');

function targetOf(word) {
  const [, bucket, key] = /^s3:\/\/([^/]+)\/(.+)$/s.exec(word) ?? [];
  if (!key) throw new Refusal('the target is not s3://BUCKET/KEY');
  return { bucket, key, shown: word };
}

module.exports = { targetOf };
