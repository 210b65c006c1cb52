// needs: the package @aws-sdk/client-s3
// usual: yes
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';

const [, Bucket, Key] = /^s3:\/\/([^/]+)\/(.+)$/s.exec(process.argv[2]);

// Counts newlines over an object, one Buffer after the other.
const client = new S3Client();
const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
let newlines = 0;
for await (const chunk of Body) {
  for (let at = -1; (at = chunk.indexOf(10, at + 1)) >= 0; ) newlines++;
}
console.log(newlines);
client.destroy();
