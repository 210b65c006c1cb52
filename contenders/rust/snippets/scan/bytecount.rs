// needs: the crate bytecount
/// Counts newlines; the crate's feature `runtime-dispatch-simd` chooses by the processor.
pub fn newlines(bytes: &[u8]) -> u64 {
    bytecount::count(bytes, b'\n') as u64
}
