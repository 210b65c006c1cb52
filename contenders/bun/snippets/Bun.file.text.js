// usual: yes
// Counts lines of the whole file, which is in memory at once as a string, and as one for every
// line.
async function lines(path) {
  const all = (await Bun.file(path).text()).split('\n');
  return all.at(-1) === '' ? all.length - 1 : all.length;
}
