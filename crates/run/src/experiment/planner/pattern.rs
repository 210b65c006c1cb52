//! What a `--method` option matches: a name or a glob over names of methods, and the settings after
//! its `@`.

use super::PlanError;
use globset::{Glob, GlobSet, GlobSetBuilder};
use readlab_model::trial::{MethodId, Params, SplitName, TrialId};

/// A name or a glob with its settings.
#[derive(Debug, Clone)]
pub struct MethodPattern {
    set: GlobSet,
    /// The settings of everything that it matches.
    pub(super) params: Params,
    /// Whether it is a name, without any character of a glob.
    pub(super) is_name: bool,
}

impl MethodPattern {
    pub fn parse(text: &str) -> Result<MethodPattern, PlanError> {
        let SplitName { path: pattern, params } = SplitName::parse(text)?;
        // The pattern itself; and, where it names a method without its scan, every scan of it.
        let mut set = GlobSetBuilder::new();
        set.add(Glob::new(pattern)?);
        set.add(Glob::new(&format!("{pattern}/*"))?);
        let is_name = !pattern.contains(['*', '?', '[', '{']);
        Ok(MethodPattern { set: set.build()?, params, is_name })
    }

    /// Whether it matches this method, whatever its settings.
    pub fn matches(&self, id: &MethodId) -> bool {
        self.set.is_match(id.to_string())
    }

    /// Whether it matches this trial, and the trial has the settings after the `@`.
    pub fn matches_trial(&self, id: &TrialId) -> bool {
        let has = |(key, value): (&String, &u64)| {
            id.params.0.iter().any(|(name, own)| Params::short(name) == Params::short(key) && own == value)
        };
        self.matches(&id.method) && self.params.0.iter().all(has)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, trial: &str) -> bool {
        MethodPattern::parse(pattern).unwrap().matches_trial(&trial.parse().unwrap())
    }

    #[test]
    fn a_name_matches_its_scans_and_settings_must_agree() {
        assert!(matches("rust/mmap", "rust/mmap/avx2@threads=2"));
        assert!(matches("rust/mmap@threads=2", "rust/mmap/avx2@threads=2,populate=1"));
        assert!(!matches("rust/mmap@threads=4", "rust/mmap/avx2@threads=2"));
        assert!(matches("rust/{read,mmap}/*", "rust/read/scalar"));
        assert!(!matches("rust/read", "rust/readv/scalar"));
    }

    #[test]
    fn sizes_are_the_same_however_they_are_written() {
        assert!(matches("rust/read@buffer=64KiB", "rust/read/scalar@buffer_bytes=65536"));
    }
}
