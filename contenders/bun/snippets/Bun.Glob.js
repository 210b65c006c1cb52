// usual: yes
const path = require('path');

// Adds up count over every regular file below a folder. Links are not followed.
async function total(folder, count) {
  let sum = 0;
  for await (const name of new Bun.Glob('**/*').scan({ cwd: folder, dot: true })) {
    sum += count(await Bun.file(path.join(folder, name)).bytes());
  }
  return sum;
}
