const https = require(process.argv[2].startsWith('https:') ? 'https' : 'http');

const PART_BYTES = 8388608; // = part_bytes
const CONCURRENCY = 8; // = concurrency

const agent = new https.Agent({ keepAlive: true });

// The answer to a GET of one range; the server must have ranges.
function part(url, start) {
  const headers = { range: `bytes=${start}-${start + PART_BYTES - 1}` };
  return new Promise((resolve, reject) => {
    https.get(url, { agent, headers }, resolve).on('error', reject);
  });
}

// Counts newlines over a URL, some ranges at once.
async function newlines(url) {
  const first = await part(url, 0);
  // There is no range of nothing: a server refuses it, or answers with all of it.
  if (first.statusCode === 416 || (first.statusCode === 200 && first.headers['content-length'] === '0')) return 0;
  const size = Number(first.headers['content-range']?.split('/')[1]);
  let next = PART_BYTES;
  let count = 0;
  async function readOn(response) {
    if (response.statusCode !== 206) throw new Error(`HTTP status ${response.statusCode}`);
    for await (const chunk of response) {
      for (let at = -1; (at = chunk.indexOf(10, at + 1)) >= 0; ) count++;
    }
    if (next < size) await readOn(await take());
  }
  function take() {
    next += PART_BYTES;
    return part(url, next - PART_BYTES);
  }
  const readers = [readOn(first)];
  while (readers.length < CONCURRENCY && next < size) readers.push(take().then(readOn));
  await Promise.all(readers);
  return count;
}

newlines(process.argv[2]).then((count) => {
  console.log(count);
  agent.destroy();
});
