//! What is measured: works, answers, trials and their names, targets, deterministic files, samples
//! and their meters.

pub mod corpus;
pub mod enumeration;
pub mod sample;
pub mod target;
pub mod trial;
pub mod units;

/// True if a field has its default value; records omit fields with default values.
pub fn is_default<T: Default + PartialEq>(it: &T) -> bool {
    *it == T::default()
}

/// Gives each variant of an enum the word by which records and users name it.
#[macro_export]
macro_rules! worded {
    ($($kind:ident { $($variant:ident = $word:literal),* })*) => {$(
        impl $kind {
            pub fn word(self) -> &'static str {
                match self {
                    $($kind::$variant => $word,)*
                }
            }
        }

        impl std::fmt::Display for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }
    )*};
}
