const http2 = require('http2');

const WINDOW_BYTES = 65535; // = window_bytes

// Counts newlines over an https:// URL, one Buffer after the other.
const url = new URL(process.argv[2]);
const session = http2.connect(url.origin, { settings: { initialWindowSize: WINDOW_BYTES } });
session.once('connect', () => session.setLocalWindowSize(WINDOW_BYTES));
const stream = session.request({ ':path': url.pathname + url.search });
let count = 0;
stream.on('response', (headers) => {
  if (headers[':status'] !== 200) throw new Error(`HTTP status ${headers[':status']}`);
});
stream.on('data', (chunk) => {
  for (let at = -1; (at = chunk.indexOf(10, at + 1)) >= 0; ) count++;
});
stream.on('end', () => {
  console.log(count);
  session.close();
});
