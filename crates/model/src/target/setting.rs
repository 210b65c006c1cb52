//! Settings of the system under which a target was read, if the run races different values of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A setting of the system with its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingValue {
    /// The setting's name, such as `read-ahead`.
    pub name: String,
    /// The value that was read back after setting it, because the kernel may round it; the value
    /// that was set if it cannot be read back.
    pub value: String,
    /// True if the setting had this value before the run.
    #[serde(rename = "is_found")]
    pub is_initial: bool,
    /// True if the value was read back.
    pub is_read_back: bool,
}

/// The settings as the name of a trial states them, after the `+`; `None` if there are none.
pub fn settings_text(settings: &[SettingValue]) -> Option<String> {
    let each = settings.iter().map(|it| format!("{}={}", it.name, it.value));
    (!settings.is_empty()).then(|| each.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_named_with_their_values() {
        let setting = |name: &str, value: &str| SettingValue {
            name: name.to_owned(),
            value: value.to_owned(),
            is_initial: false,
            is_read_back: true,
        };
        let both = [setting("read-ahead", "4MiB"), setting("scheduler", "none")];
        assert_eq!(settings_text(&both).unwrap(), "read-ahead=4MiB,scheduler=none");
        assert_eq!(settings_text(&[]), None);
    }
}
