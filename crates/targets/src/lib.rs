//! Targets, which are what is read: files, folders, places of files, devices and URLs; and the layers
//! below them.

pub mod target;
