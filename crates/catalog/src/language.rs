//! The languages of contenders, as reports name them: `Rust`, `JavaScript`, and `commands` for
//! command lines. A user's contender has the language in its roster entry, or else its own name as
//! language.
//!
//! The built-in roster has the languages of the contenders that come with readlab. A record has the
//! languages of the contenders in a user's roster, in the receipts of these contenders.

use super::roster::{Roster, RosterEntry};
use readlab_model::trial::NearestNames;
use readlab_record::Record;
use std::collections::BTreeMap;

/// The language of each contender whose language differs from its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Languages(BTreeMap<String, String>);

impl Languages {
    pub fn of_roster(roster: &Roster) -> Languages {
        let named = |entry: &RosterEntry| Some((entry.name.clone(), entry.language.clone()?));
        Languages(roster.entries.iter().filter_map(named).collect())
    }

    pub fn of_record(record: &Record) -> Languages {
        let mut languages = Languages::of_roster(&Roster::built_in());
        let receipts = record.contenders.iter();
        let stated = receipts.filter_map(|it| Some((it.contender.clone(), it.language.clone()?)));
        languages.0.extend(stated);
        languages
    }

    /// The name of the first contender in this language; if there is none, the language is the name.
    pub fn contender_of<'a>(&'a self, language: &'a str) -> &'a str {
        self.0.iter().find(|(_, it)| *it == language).map_or(language, |(contender, _)| contender)
    }

    pub fn language_of<'a>(&'a self, contender: &'a str) -> &'a str {
        self.0.get(contender).map_or(contender, String::as_str)
    }
}

/// The languages to which the user restricts a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LanguageChoice {
    /// The display names, in the order in which the user named them; empty for all languages.
    names: Vec<String>,
    /// The languages of the contenders; `None` in the default choice, which admits all contenders.
    languages: Option<Languages>,
}

#[derive(Debug, thiserror::Error)]
#[error("no language '{name}' ({nearest})")]
pub struct UnknownLanguage {
    name: String,
    nearest: NearestNames,
}

impl LanguageChoice {
    /// Parses names of languages or of contenders, ignoring case.
    pub fn parse(words: &[String], roster: &Roster) -> Result<LanguageChoice, UnknownLanguage> {
        let languages = Languages::of_roster(roster);
        let mut names: Vec<String> = Vec::new();
        for word in words {
            let is_meant = |it: &&RosterEntry| {
                [it.name.as_str(), languages.language_of(&it.name)]
                    .iter()
                    .any(|name| name.eq_ignore_ascii_case(word))
            };
            let Some(entry) = roster.entries.iter().find(is_meant) else {
                let known = roster.entries.iter().map(|entry| languages.language_of(&entry.name).to_owned());
                return Err(UnknownLanguage { name: word.clone(), nearest: NearestNames::find(word, known) });
            };
            let name = languages.language_of(&entry.name).to_owned();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Ok(LanguageChoice { names, languages: Some(languages) })
    }

    /// The languages that the user named; empty if all take part.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// True if the user chose the language of this contender, or all languages.
    pub fn admits(&self, contender: &str) -> bool {
        let language =
            self.languages.as_ref().map_or(contender, |languages| languages.language_of(contender));
        self.names.is_empty() || self.names.iter().any(|name| name == language)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_record::Receipt;
    use readlab_record::testing::header;

    #[test]
    fn a_contender_has_the_language_that_its_roster_states_else_its_name() {
        let languages = Languages::of_roster(&Roster::built_in());
        assert_eq!(
            ["node", "command", "c"].map(|it| languages.language_of(it)),
            ["JavaScript", "commands", "C"]
        );
        let mut record = Record::new(header());
        let stated = |contender: &str, language: Option<&str>| Receipt {
            contender: contender.into(),
            version: "1".into(),
            runtime: String::new(),
            language: language.map(Into::into),
        };
        record.contenders = vec![stated("mine", Some("Zig")), stated("other", None), stated("rust", None)];
        let languages = Languages::of_record(&record);
        assert_eq!(["mine", "other", "rust"].map(|it| languages.language_of(it)), ["Zig", "other", "Rust"]);
    }

    #[test]
    fn languages_are_chosen_by_language_or_contender_and_misspellings_get_suggestions() {
        let choice = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            LanguageChoice::parse(&words, &Roster::built_in())
        };
        let two = choice(&["javascript", "RUST", "node"]).unwrap();
        assert_eq!(two.names(), ["JavaScript", "Rust"]);
        assert!(two.admits("node") && two.admits("rust") && !two.admits("c") && !two.admits("command"));
        assert!(choice(&[]).unwrap().admits("anything") && LanguageChoice::default().admits("c"));
        let error = choice(&["rust", "pyton"]).unwrap_err().to_string();
        assert!(error.starts_with("no language 'pyton' (nearest: Python, "), "{error}");
    }
}
