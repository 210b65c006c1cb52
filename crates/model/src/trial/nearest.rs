//! Suggests known names for a name that does not exist, for error messages.

use std::fmt;

const SUGGESTIONS_MAX: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearestNames(Vec<String>);

impl NearestNames {
    /// The known names with the smallest edit distance from this name, ignoring case.
    pub fn find(name: &str, known: impl IntoIterator<Item = String>) -> NearestNames {
        let name = name.to_lowercase();
        let distance = |other: &String| strsim::damerau_levenshtein(&name, &other.to_lowercase());
        let mut near: Vec<(usize, String)> = known.into_iter().map(|it| (distance(&it), it)).collect();
        near.sort();
        near.dedup();
        NearestNames(near.into_iter().take(SUGGESTIONS_MAX).map(|(_, name)| name).collect())
    }
}

impl fmt::Display for NearestNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            f.write_str("there are none")
        } else {
            write!(f, "nearest: {}", self.0.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_come_first_and_each_once() {
        let known = ["rust/mmap/avx2", "rust/read", "c/mmap", "rust/mmap", "rust/mmap", "java/lines"];
        let nearest = |name: &str| NearestNames::find(name, known.map(str::to_owned)).to_string();
        assert_eq!(nearest("rust/mmpa"), "nearest: rust/mmap, rust/read, c/mmap");
        assert_eq!(nearest("RUST/READ"), "nearest: rust/read, rust/mmap, c/mmap");
        assert_eq!(NearestNames::find("x", []).to_string(), "there are none");
    }
}
