const BUFFER_BYTES = 65536; // = buffer_bytes

// Adds up count over the file's bytes, one read at a time into one Uint8Array.
async function total(path, count) {
  const file = await Deno.open(path);
  try {
    const buffer = new Uint8Array(BUFFER_BYTES);
    let sum = 0;
    for (let length; (length = await file.read(buffer)) !== null; ) sum += count(buffer.subarray(0, length));
    return sum;
  } finally {
    file.close();
  }
}
