//! Tests of the crate from outside. What depends on the page cache or on mounts is of Linux alone.

#[cfg(target_os = "linux")]
mod every_byte;
#[cfg(target_os = "linux")]
mod overlay;
mod plain;
#[cfg(target_os = "linux")]
mod targets;
