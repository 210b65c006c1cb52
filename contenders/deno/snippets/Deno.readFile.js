// usual: yes
// Counts over the file's bytes, which are all in memory.
async function total(path, count) {
  return count(await Deno.readFile(path));
}
