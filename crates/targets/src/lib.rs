//! What is read: files, folders, places, devices, URLs; the layers below; corpora and right answers.

pub mod corpus;
pub mod target;
