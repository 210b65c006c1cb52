// needs: the package @aws-sdk/client-s3
import { GetObjectCommand, HeadObjectCommand, S3Client } from '@aws-sdk/client-s3';

const PART_BYTES = 8388608; // = part_bytes
const CONCURRENCY = 8; // = concurrency

const [, Bucket, Key] = /^s3:\/\/([^/]+)\/(.+)$/s.exec(process.argv[2]);

// Counts newlines over an object, some ranges at once; all of them are of the version that was there first.
const client = new S3Client({ requestHandler: { httpsAgent: { maxSockets: CONCURRENCY } } });
const { ContentLength, ETag } = await client.send(new HeadObjectCommand({ Bucket, Key }));
let next = 0;
let newlines = 0;
async function readParts() {
  while (next < ContentLength) {
    const Range = `bytes=${next}-${next + PART_BYTES - 1}`;
    next += PART_BYTES;
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key, Range, IfMatch: ETag }));
    for await (const chunk of Body) {
      for (let at = -1; (at = chunk.indexOf(10, at + 1)) >= 0; ) newlines++;
    }
  }
}
await Promise.all(Array.from({ length: CONCURRENCY }, readParts));
console.log(newlines);
client.destroy();
