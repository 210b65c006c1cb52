//! A fact of a machine that the user gives to `readlab compare`, for sides that do not know it: a
//! fit needs one for each machine.

use anyhow::{Context, bail};
use readlab_analysis::compare::Side;
use readlab_report::side_letter;
use serde_json::Value;
use std::str::FromStr;

/// `max_turbo_ghz=4.7` for all sides that do not know it, or `B:max_turbo_ghz=4.7` for one.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenFact {
    side: Option<String>,
    name: String,
    value: Value,
}

impl FromStr for GivenFact {
    type Err = String;

    fn from_str(text: &str) -> Result<GivenFact, String> {
        let wrong = || format!("'{text}' is no fact such as max_turbo_ghz=4.7 or B:max_turbo_ghz=4.7");
        let (named, value) = text.split_once('=').filter(|(_, value)| !value.is_empty()).ok_or_else(wrong)?;
        let (side, name) = named.split_once(':').map_or((None, named), |(side, name)| (Some(side), name));
        let name = name.strip_prefix("machine.").unwrap_or(name);
        if name.is_empty() || side.is_some_and(str::is_empty) {
            return Err(wrong());
        }
        let number = value.parse::<f64>().ok().filter(|number| number.is_finite());
        let value = number.map_or_else(|| value.into(), Value::from);
        Ok(GivenFact { side: side.map(str::to_owned), name: name.to_owned(), value })
    }
}

impl GivenFact {
    /// Gives it to the side that it names, or to all that do not know it.
    ///
    /// # Errors
    /// If no side has this letter or name.
    pub(super) fn give(&self, sides: &mut [Side]) -> anyhow::Result<()> {
        let Some(named) = &self.side else {
            let lacks = |side: &&mut Side| side.facts.get(&self.name).is_none_or(Value::is_null);
            sides.iter_mut().filter(lacks).for_each(|side| self.give_to(side));
            return Ok(());
        };
        let at =
            sides.iter().enumerate().position(|(at, side)| side_letter(at) == *named || side.name == *named);
        let Some(at) = at else {
            let names: Vec<String> = sides
                .iter()
                .enumerate()
                .map(|(at, side)| format!("{} ({})", side_letter(at), side.name))
                .collect();
            bail!("--fact {named}:{}: no side is called so; there are {}", self.name, names.join(", "));
        };
        sides.get_mut(at).map(|side| self.give_to(side)).context("its place was just found")
    }

    fn give_to(&self, side: &mut Side) {
        side.facts.insert(self.name.clone(), self.value.clone());
        side.notes.push(format!("{} = {} was given by --fact", self.name, self.value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn sides() -> Vec<Side> {
        let side = |name: &str, facts: BTreeMap<String, Value>| Side {
            name: name.to_owned(),
            about: String::new(),
            facts,
            notes: Vec::new(),
            cases: Vec::new(),
        };
        vec![side("one", BTreeMap::from([("ghz".to_owned(), 3.0.into())])), side("two", BTreeMap::new())]
    }

    fn given(text: &str) -> Result<Vec<Side>, String> {
        let mut sides = sides();
        text.parse::<GivenFact>()?.give(&mut sides).map_err(|error| error.to_string())?;
        Ok(sides)
    }

    #[test]
    fn a_fact_goes_to_the_sides_that_lack_it_or_to_the_named_one() {
        let ghz = |sides: Vec<Side>| {
            sides.iter().map(|side| side.facts["ghz"].as_f64().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(ghz(given("machine.ghz=4.7").unwrap()), [3.0, 4.7]);
        assert_eq!(ghz(given("B:ghz=4").unwrap()), [3.0, 4.0]);
        let named = given("one:ghz=5").unwrap();
        assert_eq!(named[0].facts["ghz"], 5.0);
        assert_eq!(named[0].notes, ["ghz = 5.0 was given by --fact"]);
        assert_eq!(given("drive=fast").unwrap()[1].facts["drive"], "fast");
    }

    #[test]
    fn what_is_no_fact_and_an_unknown_side_are_named() {
        for text in ["ghz", "=4", "ghz=", ":ghz=4", "B:=4"] {
            assert!(given(text).unwrap_err().contains("is no fact such as"), "{text}");
        }
        assert!(given("C:ghz=4").unwrap_err().contains("there are A (one), B (two)"));
    }
}
