// Counts newlines from one to the next.
function count(bytes) {
  let newlines = 0;
  for (let at = -1; (at = bytes.indexOf(10, at + 1)) >= 0; ) newlines++;
  return newlines;
}
