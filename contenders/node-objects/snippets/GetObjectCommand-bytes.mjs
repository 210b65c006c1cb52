// needs: the package @aws-sdk/client-s3
// usual: yes
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';

const [, Bucket, Key] = /^s3:\/\/([^/]+)\/(.+)$/s.exec(process.argv[2]);

// Counts newlines over an object, the whole of which is in memory.
const client = new S3Client();
const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
const bytes = await Body.transformToByteArray();
let newlines = 0;
for (let at = -1; (at = bytes.indexOf(10, at + 1)) >= 0; ) newlines++;
console.log(newlines);
client.destroy();
