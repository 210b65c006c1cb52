// needs: the crate zstd; memory for the whole file
use std::io::{self, Read};
use std::path::Path;
use std::{fs, thread};
use zstd::zstd_safe::find_frame_compressed_size;

const BUFFER_BYTES: usize = 131072; // = buffer_bytes
const THREADS: usize = 2; // = threads

/// Adds up `count` over what comes out of the frames of a zstd, which several threads decode.
pub fn total(path: &Path, count: impl Fn(&[u8]) -> u64 + Sync) -> io::Result<u64> {
    let packed = fs::read(path)?;
    let (mut frames, mut rest) = (Vec::new(), &packed[..]);
    while !rest.is_empty() {
        let length = find_frame_compressed_size(rest).map_err(|_| io::ErrorKind::InvalidData)?;
        let (frame, after) = rest.split_at(length);
        frames.push(frame);
        rest = after;
    }
    let share = frames.len().div_ceil(THREADS).max(1);
    let decode = |frames: &[&[u8]]| -> io::Result<u64> {
        let (mut buffer, mut total) = (vec![0; BUFFER_BYTES], 0);
        for frame in frames {
            let mut decoder = zstd::Decoder::with_buffer(*frame)?;
            decoder.window_log_max(31)?; // a window of more than 128 MiB, as of `zstd --long=31`
            loop {
                match decoder.read(&mut buffer)? {
                    0 => break,
                    length => total += count(&buffer[..length]),
                }
            }
        }
        Ok(total)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = frames.chunks(share).map(|share| scope.spawn(|| decode(share))).collect();
        threads.into_iter().map(|thread| thread.join().expect("it does not panic")).sum()
    })
}
