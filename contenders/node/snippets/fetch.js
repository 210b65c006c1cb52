// usual: yes
// Counts newlines over a URL, one Uint8Array after the other.
async function newlines(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`HTTP status ${response.status}`);
  let count = 0;
  for await (const chunk of response.body ?? []) {
    for (let at = -1; (at = chunk.indexOf(10, at + 1)) >= 0; ) count++;
  }
  return count;
}

newlines(process.argv[2]).then(console.log);
