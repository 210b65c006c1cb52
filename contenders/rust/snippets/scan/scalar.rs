/// Counts newlines, one byte at a time.
pub fn newlines(bytes: &[u8]) -> u64 {
    let mut count = 0;
    for &byte in bytes {
        if byte == b'\n' {
            count += 1;
        }
    }
    count
}
