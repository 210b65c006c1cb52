const https = require(process.argv[2].startsWith('https:') ? 'https' : 'http');

// Counts newlines over a URL, one Buffer after the other.
https.get(process.argv[2], (response) => {
  if (response.statusCode !== 200) throw new Error(`HTTP status ${response.statusCode}`);
  let count = 0;
  response.on('data', (chunk) => {
    for (let at = -1; (at = chunk.indexOf(10, at + 1)) >= 0; ) count++;
  });
  response.on('end', () => console.log(count));
  response.on('error', (failure) => {
    throw failure;
  });
});
