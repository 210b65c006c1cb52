// needs: compilation with -C target-cpu=x86-64-v3
/// Counts newlines; compilers turn it into vector code.
pub fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}
