//! The two files of AWS's tools, `config` and `credentials`, and the profile that is in force.

use super::config::ConfigError;
use super::surroundings::Surroundings;
use configparser::ini::{Ini, IniDefault};
use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Settings by their names; a value of several lines holds settings itself.
type Section = HashMap<String, String>;

/// The settings that are in force.
pub(super) struct Profile {
    pub(super) name: String,
    settings: Section,
    /// The section `services` that it names.
    services: Section,
}

impl Profile {
    /// The profile that the variables choose, of both files; without any file it is empty.
    pub(super) fn chosen(surroundings: &dyn Surroundings) -> Result<Profile, ConfigError> {
        let variable = |name| surroundings.variable(name);
        let chosen = variable("AWS_PROFILE").or_else(|| variable("AWS_DEFAULT_PROFILE"));
        let mut config = sections(surroundings, "AWS_CONFIG_FILE", ".aws/config")?;
        let mut keys = sections(surroundings, "AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials")?;
        let name = chosen.clone().unwrap_or_else(|| "default".to_owned());
        let of_config = take(&mut config, "profile", &name)
            .or_else(|| (name == "default").then(|| config.remove("default")).flatten());
        let of_keys = keys.remove(&name);
        if chosen.is_some() && name != "default" && of_config.is_none() && of_keys.is_none() {
            return Err(ConfigError::NoProfile(name));
        }
        let mut settings = of_config.unwrap_or_default();
        settings.extend(of_keys.unwrap_or_default());
        let services = settings.get("services").and_then(|services| take(&mut config, "services", services));
        Ok(Profile { name, services: services.unwrap_or_default(), settings })
    }

    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.settings.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A setting of the profile for S3 alone.
    pub(super) fn of_s3(&self, name: &str) -> Option<String> {
        nested(&self.settings, name)
    }

    /// A setting for S3 in the profile's section `services`.
    pub(super) fn of_service_s3(&self, name: &str) -> Option<String> {
        nested(&self.services, name)
    }
}

/// A setting below `s3`: lines `name = value` within the value.
fn nested(section: &Section, name: &str) -> Option<String> {
    let lines = section.get("s3")?.lines().filter_map(|line| line.split_once('='));
    let mut lines = lines.map(|(known, value)| (known.trim(), value.trim()));
    lines.find(|(known, value)| *known == name && !value.is_empty()).map(|(_, value)| value.to_owned())
}

/// Removes the section `[kind name]`; the name may be in quotes.
fn take(sections: &mut HashMap<String, Section>, kind: &str, name: &str) -> Option<Section> {
    let is_it = |title: &str| {
        let rest = title.strip_prefix(kind).filter(|rest| rest.starts_with([' ', '\t']));
        rest.is_some_and(|rest| rest.trim().trim_matches(['"', '\'']) == name)
    };
    let title = sections.keys().find(|title| is_it(title))?.clone();
    sections.remove(&title)
}

/// The sections of a file that a variable names; none if it does not exist.
fn sections(
    surroundings: &dyn Surroundings,
    variable: &str,
    default: &str,
) -> Result<HashMap<String, Section>, ConfigError> {
    let home = surroundings.variable("HOME").map(PathBuf::from);
    let named = surroundings.variable(variable).map(|path| expanded(&path, home.as_deref()));
    let Some(path) = named.or_else(|| Some(home?.join(default))) else { return Ok(HashMap::new()) };
    match surroundings.read(&path) {
        Ok(text) => parsed(text).ok_or(ConfigError::Syntax(path)),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(HashMap::new()),
        Err(cause) => Err(ConfigError::File { path, cause }),
    }
}

/// A path with the user's home in place of a tilde at its start.
fn expanded(path: &str, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

/// The sections of a text; `None` if it is no such file: what is wrong with it may be a secret.
fn parsed(text: String) -> Option<HashMap<String, Section>> {
    let mut format = IniDefault::default();
    format.case_sensitive = true;
    format.multiline = true;
    format.delimiters = vec!['='];
    // A command may have the characters of comments.
    format.enable_inline_comments = false;
    // Settings before the first section belong to no profile.
    format.default_section = String::new();
    let sections = Ini::new_from_defaults(format).read(text).ok()?;
    let values = |section: HashMap<String, Option<String>>| {
        section.into_iter().map(|(name, value)| (name, value.unwrap_or_default())).collect()
    };
    Some(sections.into_iter().map(|(title, section)| (title, values(section))).collect())
}
