// Adds up count over the file's bytes, one new Uint8Array after the other.
async function total(path, count) {
  let sum = 0;
  for await (const chunk of Bun.file(path).stream()) sum += count(chunk);
  return sum;
}
