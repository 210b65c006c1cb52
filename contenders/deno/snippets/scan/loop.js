// Counts newlines byte by byte.
function count(bytes) {
  let newlines = 0;
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === 10) newlines++;
  return newlines;
}
