//! Tests that only the second ring runs, because they need a browser, or root and time: pages on a
//! screen, file systems and slow devices that a test makes, every method on large files. Other
//! tests of the second ring are beside those of the first one on the same subject, in modules with
//! this name too.

mod broken_readers;
mod browser;
mod filesystems;
mod throttled;
