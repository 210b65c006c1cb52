//! The parameter space of a search: a list of values for each parameter.
//!
//! For example `buffer=4KiB..8MiB,depth=1..64,threads=1..all,direct=0|1`: a range doubles from its
//! lower end and includes both ends, a bar separates single values, `all` is the number of
//! processors. Each method declares which values it takes; no method name is known here.

use readlab_model::trial::Params;
use readlab_model::units::Bytes;
use readlab_protocol::{MethodLine, ParamLine};
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

/// Parameters by name, each with its values in rising order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterSpace {
    values: BTreeMap<String, BTreeSet<u64>>,
    /// Settings with more memory in flight than this are left out.
    in_flight_bytes_max: u64,
}

/// The default space: parameters worth setting, in steps that change the rate.
const DEFAULT_SPACE: &str = "buffer=16KiB|64KiB|256KiB|1MiB|4MiB,chunk=16KiB|64KiB|256KiB|1MiB|4MiB,depth=1|4|16|64,\
                     threads=1..all,populate=0|1,sequential=0|1,direct=0|1,\
                     part=1MiB|4MiB|16MiB|64MiB,concurrency=1|4|16|64";

/// The largest number of bytes that a setting of the default space has in flight. This many keep
/// any device busy.
const DEFAULT_IN_FLIGHT_BYTES: u64 = 64 << 20;

/// Parameters whose product is the memory in flight.
const IN_FLIGHT_FACTORS: [&str; 6] = ["buffer", "buffers", "depth", "threads", "part", "concurrency"];

impl ParameterSpace {
    pub fn default_space() -> ParameterSpace {
        let space: ParameterSpace = DEFAULT_SPACE.parse().expect("the usual space is checked by a test");
        ParameterSpace { in_flight_bytes_max: DEFAULT_IN_FLIGHT_BYTES, ..space }
    }

    /// Adds values of a parameter. Without values the space stays unchanged.
    pub fn with_values(mut self, name: &str, values: Vec<u64>) -> ParameterSpace {
        if !values.is_empty() {
            self.values.entry(name.to_owned()).or_default().extend(values);
        }
        self
    }

    /// The parameters that the user set, each with its values; none of the default space.
    pub fn user_named_values(&self) -> impl Iterator<Item = (&str, u64)> {
        let is_given = self.in_flight_bytes_max != DEFAULT_IN_FLIGHT_BYTES;
        let named = self.values.iter().filter(move |_| is_given);
        named.flat_map(|(name, values)| values.iter().map(move |&value| (name.as_str(), value)))
    }

    pub fn sets_any_of(&self, method: &MethodLine) -> bool {
        self.settable_values(method).next().is_some()
    }

    /// The values that this space sets in the method, each with the short name of its parameter.
    pub fn settable_values<'m>(&self, method: &'m MethodLine) -> impl Iterator<Item = (&'m str, u64)> {
        method.params.iter().flat_map(move |param| {
            let name = Params::short_name(&param.name);
            self.values(param).into_iter().map(move |value| (name, value))
        })
    }

    /// Every setting of a method: each combination of the values in the space. A parameter that is
    /// not in the space keeps its default. Values of 0 and 1 that are the default are left out of
    /// the setting.
    pub fn settings(&self, method: &MethodLine) -> Vec<Params> {
        let mut settings = vec![Params::default()];
        for param in &method.params {
            let values = self.values(param);
            if values.is_empty() {
                continue;
            }
            let with = |settings: &Params, value| {
                let mut more = settings.clone();
                if value > 1 || value != param.default {
                    more.0.insert(param.name.clone(), value);
                }
                more
            };
            settings =
                settings.iter().flat_map(|some| values.iter().map(move |&value| with(some, value))).collect();
        }
        settings.retain(|settings| in_flight_bytes(method, settings) <= self.in_flight_bytes_max);
        settings
    }

    /// The values of one parameter, within the range that the method takes.
    fn values(&self, param: &ParamLine) -> Vec<u64> {
        let same = |name: &str| Params::short_name(name) == Params::short_name(&param.name);
        let named = self.values.iter().filter(|(name, _)| same(name)).flat_map(|(_, values)| values);
        named.copied().filter(|value| (param.min..=param.max).contains(value)).collect()
    }
}

impl FromStr for ParameterSpace {
    type Err = String;

    fn from_str(text: &str) -> Result<ParameterSpace, String> {
        let mut space: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
        for part in text.split(',') {
            let named = part.split_once('=').filter(|(name, _)| !name.trim().is_empty());
            let (name, values) = named.ok_or_else(|| {
                format!(
                    "'{part}' is no space: expected name=low..high or name=value|value, separated by commas"
                )
            })?;
            let name = name.trim();
            let values =
                values.split('|').map(|span| parse_range(part, span)).collect::<Result<Vec<_>, _>>()?;
            let is_same = |other: &String| Params::short_name(other) == Params::short_name(name);
            if space.keys().any(is_same) {
                return Err(format!("'{part}': {name} is given twice; list its values, as in {name}=1|4"));
            }
            space.insert(name.to_owned(), values.into_iter().flatten().collect());
        }
        Ok(ParameterSpace { values: space, in_flight_bytes_max: u64::MAX })
    }
}

/// Bytes that a setting has in flight. Parameters that it does not set have the method's defaults.
fn in_flight_bytes(method: &MethodLine, settings: &Params) -> u64 {
    let counts =
        method.params.iter().filter(|param| IN_FLIGHT_FACTORS.contains(&Params::short_name(&param.name)));
    let value = |param: &ParamLine| settings.0.get(&param.name).copied().unwrap_or(param.default);
    counts.map(value).fold(1, u64::saturating_mul)
}

/// Parses a single value, or a range: both ends, and the values that double from the lower end.
fn parse_range(part: &str, span: &str) -> Result<Vec<u64>, String> {
    let Some((low, high)) = span.split_once("..") else { return Ok(vec![parse_value(part, span)?]) };
    let (low, high) = (parse_value(part, low)?, parse_value(part, high)?);
    if high < low {
        return Err(format!("'{part}': the range ends before it begins"));
    }
    let doubled = |last: &u64| Some(last.saturating_mul(2).max(1)).filter(|next| next < &high && next > last);
    Ok(std::iter::successors(Some(low), doubled).chain([high]).collect())
}

fn parse_value(part: &str, text: &str) -> Result<u64, String> {
    if text.trim() == "all" {
        return Ok(std::thread::available_parallelism().map_or(1, usize::from) as u64);
    }
    let bytes = text.trim().parse::<Bytes>().map_err(|cause| format!("'{part}': {cause}"))?;
    Ok(bytes.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<u64> {
        let space: ParameterSpace = text.parse().unwrap();
        space.values.values().next().unwrap().iter().copied().collect()
    }

    fn method(params: &[(&str, u64, u64)]) -> MethodLine {
        let line =
            |&(name, min, max): &(&str, u64, u64)| ParamLine { name: name.into(), default: min, min, max };
        MethodLine { params: params.iter().map(line).collect(), ..MethodLine::plain("m", "") }
    }

    #[test]
    fn a_range_doubles_from_its_lower_end_and_holds_both() {
        assert_eq!(values("buffer=4KiB..32KiB"), [4096, 8192, 16_384, 32_768]);
        assert_eq!(values("depth=1..6"), [1, 2, 4, 6]);
        assert_eq!(values("depth=3..3"), [3]);
        assert_eq!(values("direct=0..1"), [0, 1]);
        assert_eq!(values("depth=0..4"), [0, 1, 2, 4]);
        assert_eq!(values("depth=1|64|1..2"), [1, 2, 64]);
        let processors = std::thread::available_parallelism().unwrap().get() as u64;
        assert_eq!(values("threads=1..all").last(), Some(&processors));
        assert_eq!(values("x=18446744073709551614..18446744073709551615").len(), 2);
    }

    #[test]
    fn malformed_spaces_are_refused() {
        for text in ["", "buffer", "=1", "buffer=", "buffer=x", "depth=4..1", "depth=1..", "depth=1,,"] {
            assert!(text.parse::<ParameterSpace>().is_err(), "{text:?}");
        }
        for text in ["buffer=4KiB,buffer=1MiB", "buffer=4KiB,depth=1, buffer_bytes=1MiB"] {
            let said = text.parse::<ParameterSpace>().unwrap_err();
            assert!(said.contains("is given twice; list its values, as in buffer"), "{said}");
        }
    }

    #[test]
    fn values_that_no_method_takes_are_not_settable() {
        let space: ParameterSpace = "depth=1|2|99".parse().unwrap();
        assert_eq!(
            space.user_named_values().collect::<Vec<_>>(),
            [("depth", 1), ("depth", 2), ("depth", 99)]
        );
        let line = method(&[("depth", 1, 64), ("direct", 0, 1)]);
        assert_eq!(space.settable_values(&line).collect::<Vec<_>>(), [("depth", 1), ("depth", 2)]);
    }

    #[test]
    fn a_method_gets_every_combination_of_its_parameters_and_no_others() {
        let space: ParameterSpace = "buffer=4KiB..16KiB,depth=1|2|99,ring=7".parse().unwrap();
        let two = method(&[("buffer_bytes", 8192, 1 << 20), ("depth", 1, 64), ("direct", 0, 1)]);
        let spelled: Vec<String> = space.settings(&two).iter().map(Params::to_string).collect();
        assert_eq!(spelled, ["buffer=8KiB", "buffer=8KiB,depth=2", "buffer=16KiB", "buffer=16KiB,depth=2"]);
        assert!(space.sets_any_of(&two) && !space.sets_any_of(&method(&[("direct", 0, 1)])));
        assert_eq!(space.settings(&method(&[])), [Params::default()]);
    }

    #[test]
    fn values_of_a_parameter_are_added_to_a_space() {
        let ranges = method(&[("merge_bytes", 0, 1 << 30)]);
        let space: ParameterSpace = "depth=1|2".parse().unwrap();
        assert!(!space.clone().with_values("merge_bytes", Vec::new()).sets_any_of(&ranges));
        let spelled = space.with_values("merge_bytes", vec![65_536, 0]).settings(&ranges);
        let spelled: Vec<String> = spelled.iter().map(Params::to_string).collect();
        assert_eq!(spelled, ["", "merge=64KiB"]);
    }

    #[test]
    fn the_default_space_is_valid_and_uses_no_more_memory_than_useful() {
        let space = ParameterSpace::default_space();
        assert_eq!((space.values.len(), space.user_named_values().count()), (9, 0));
        let ring = method(&[("buffer_bytes", 512, 1 << 30), ("depth", 1, 4096)]);
        let settings = space.settings(&ring);
        assert_eq!(settings.len(), 19, "all but 64 times 4 MiB");
        let mut vectors = ring.clone();
        vectors.params.push(ParamLine { name: "buffers".into(), default: 32, min: 1, max: 1024 });
        assert!(space.settings(&vectors).len() < settings.len());
    }
}
