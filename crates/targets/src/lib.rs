//! What is read: files, folders, places, devices, URLs; the layers below.

pub mod target;
