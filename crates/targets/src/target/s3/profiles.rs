//! The two configuration files of AWS's tools, `config` and `credentials`, and the selected
//! profile.

use super::config::ConfigError;
use super::surroundings::Surroundings;
use configparser::ini::{Ini, IniDefault};
use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Settings by name. A value that has several lines contains further settings.
type Section = HashMap<String, String>;

/// The settings of the selected profile.
pub(super) struct Profile {
    pub(super) name: String,
    settings: Section,
    services: Section,
    /// The files that exist. The selected profile may have settings from each of them.
    pub(super) files: Vec<PathBuf>,
}

/// A file that was read, with its sections.
#[derive(Default)]
struct SectionsFile {
    /// Path of the file; `None` if the file does not exist.
    path: Option<PathBuf>,
    sections: HashMap<String, Section>,
}

impl Profile {
    /// The profile that the environment variables select, with its settings in both files. If they
    /// select none, it is `default`, which may have no settings.
    pub(super) fn selected(surroundings: &dyn Surroundings) -> Result<Profile, ConfigError> {
        let variable = |name| surroundings.variable(name);
        let chosen = variable("AWS_PROFILE").or_else(|| variable("AWS_DEFAULT_PROFILE"));
        let mut config = read_sections(surroundings, "AWS_CONFIG_FILE", ".aws/config")?;
        let mut keys = read_sections(surroundings, "AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials")?;
        let name = chosen.clone().unwrap_or_else(|| "default".to_owned());
        let of_config = take_section(&mut config.sections, "profile", &name)
            .or_else(|| (name == "default").then(|| config.sections.remove("default")).flatten());
        let of_keys = keys.sections.remove(&name);
        if chosen.is_some() && name != "default" && of_config.is_none() && of_keys.is_none() {
            return Err(ConfigError::NoProfile(name));
        }
        let mut settings = of_config.unwrap_or_default();
        settings.extend(of_keys.unwrap_or_default());
        let services =
            settings.get("services").and_then(|it| take_section(&mut config.sections, "services", it));
        let files = [config.path, keys.path].into_iter().flatten().collect();
        Ok(Profile { name, services: services.unwrap_or_default(), settings, files })
    }

    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.settings.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A setting below `s3` in the profile; `None` if it is missing or empty.
    pub(super) fn s3_value(&self, name: &str) -> Option<String> {
        s3_setting(&self.settings, name)
    }

    /// A setting below `s3` in the services of the profile; `None` if it is missing or empty.
    pub(super) fn s3_service_value(&self, name: &str) -> Option<String> {
        s3_setting(&self.services, name)
    }
}

/// A line `name = value` within the value of the setting `s3`.
fn s3_setting(section: &Section, name: &str) -> Option<String> {
    let lines = section.get("s3")?.lines().filter_map(|line| line.split_once('='));
    let mut lines = lines.map(|(known, value)| (known.trim(), value.trim()));
    lines.find(|(known, value)| *known == name && !value.is_empty()).map(|(_, value)| value.to_owned())
}

/// Removes and returns the section `[kind name]`, whose name may be in quotes; `None` if it is
/// missing.
fn take_section(sections: &mut HashMap<String, Section>, kind: &str, name: &str) -> Option<Section> {
    let is_it = |title: &str| {
        let rest = title.strip_prefix(kind).filter(|rest| rest.starts_with([' ', '\t']));
        rest.is_some_and(|rest| rest.trim().trim_matches(['"', '\'']) == name)
    };
    let title = sections.keys().find(|title| is_it(title))?.clone();
    sections.remove(&title)
}

/// The sections of the file that an environment variable names; none if the file does not exist.
fn read_sections(
    surroundings: &dyn Surroundings,
    variable: &str,
    default: &str,
) -> Result<SectionsFile, ConfigError> {
    let home = surroundings.variable("HOME").map(PathBuf::from);
    let named = surroundings.variable(variable).map(|path| expand_home(&path, home.as_deref()));
    let Some(path) = named.or_else(|| Some(home?.join(default))) else { return Ok(SectionsFile::default()) };
    match surroundings.read(&path) {
        Ok(text) => match parse_sections(text) {
            Some(sections) => Ok(SectionsFile { path: Some(path), sections }),
            None => Err(ConfigError::Syntax(path)),
        },
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(SectionsFile::default()),
        Err(cause) => Err(ConfigError::File { path, cause }),
    }
}

/// Replaces a tilde at the start of a path by the user's home folder.
fn expand_home(path: &str, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

/// The sections of a text; `None` if it cannot be parsed. The reason is dropped, because it may
/// contain a secret.
fn parse_sections(text: String) -> Option<HashMap<String, Section>> {
    let mut format = IniDefault::default();
    format.case_sensitive = true;
    format.multiline = true;
    format.delimiters = vec!['='];
    // A command may contain the characters that begin comments.
    format.enable_inline_comments = false;
    // Settings before the first section belong to no profile.
    format.default_section = String::new();
    let sections = Ini::new_from_defaults(format).read(text).ok()?;
    let values = |section: HashMap<String, Option<String>>| {
        section.into_iter().map(|(name, value)| (name, value.unwrap_or_default())).collect()
    };
    Some(sections.into_iter().map(|(title, section)| (title, values(section))).collect())
}
