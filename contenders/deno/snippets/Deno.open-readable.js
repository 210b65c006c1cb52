// Adds up count over the file's bytes, one new Uint8Array after the other.
async function total(path, count) {
  const file = await Deno.open(path);
  let sum = 0;
  // The stream closes the file.
  for await (const chunk of file.readable) sum += count(chunk);
  return sum;
}
