//! The store that the environment and the configuration files of AWS's tools describe, with the
//! same rules as these tools:
//! <https://docs.aws.amazon.com/sdkref/latest/guide/settings-reference.html>.
//!
//! Settings that need requests to other services are not supported: roles, single sign-on, and the
//! services that give keys to containers and instances. If one of them would provide the keys, the
//! error states how AWS's own tool exports them.

use super::credentials::{Credentials, Secret};
use super::endpoint::{Endpoint, EndpointError};
use super::profiles::Profile;
use super::store::Store;
use super::surroundings::Surroundings;
use jiff::Timestamp;
use readlab_model::target::{BucketStyle, ServerOptions};
use readlab_system::terminal::printable::display_path;
use readlab_system::terminal::printable::printable;
use serde::Deserialize;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{}: {cause}", display_path(.path))]
    File { path: PathBuf, cause: io::Error },
    #[error("{}: not a file of sections and settings, as AWS's tools have it", display_path(.0))]
    Syntax(PathBuf),
    #[error("AWS_PROFILE: no file has a profile '{}'", printable(.0))]
    NoProfile(String),
    #[error("{0}: an access key and its secret come together, one of them is missing")]
    IncompleteKey(String),
    #[error(
        "{0}: readlab does not request keys from other services; let AWS's tool do it: eval \"$(aws configure export-credentials --format env)\""
    )]
    UnsupportedKeySource(String),
    #[error(
        "no credentials for S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or choose a profile by AWS_PROFILE; for keys from a role, an instance or single sign-on: eval \"$(aws configure export-credentials --format env)\"; for public objects: AWS_NO_SIGN_REQUEST=true"
    )]
    NoCredentials,
    #[error("credential_process of the profile '{}': {cause}", printable(.profile))]
    Process { profile: String, cause: String },
    #[error("the credentials expired at {0}")]
    Expired(Timestamp),
    #[error("{place}: {cause}")]
    Endpoint { place: &'static str, cause: EndpointError },
    #[error("{setting}: '{}' is not one of its values", printable(.value))]
    InvalidValue { setting: &'static str, value: String },
    #[error("{0}: readlab does not follow it; give the endpoint by --endpoint")]
    UnsupportedEndpoint(&'static str),
}

/// The environment variables and the profile together.
struct Settings<'a> {
    surroundings: &'a dyn Surroundings,
    profile: Profile,
}

impl Store {
    /// The store that the options, the environment and the configuration files describe.
    pub fn from_configuration(
        options: &ServerOptions,
        surroundings: &dyn Surroundings,
    ) -> Result<Store, ConfigError> {
        let settings = Settings { surroundings, profile: Profile::selected(surroundings)? };
        let region = settings.region()?;
        let given = settings.endpoint(options)?;
        let default = if given.is_some() { BucketStyle::Path } else { BucketStyle::Virtual };
        let style = settings.style()?.unwrap_or(default);
        let unsigned = options.is_unsigned || settings.is_variable_true("AWS_NO_SIGN_REQUEST");
        let credentials = if unsigned { None } else { Some(settings.credentials()?) };
        let endpoint = match given {
            Some(endpoint) => endpoint,
            None => settings.default_endpoint(&region)?,
        };
        Ok(Store { endpoint, region, style, credentials })
    }
}

impl Settings<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        self.surroundings.variable(name)
    }

    fn is_variable_true(&self, variable: &str) -> bool {
        self.variable(variable).is_some_and(|value| is_true(&value))
    }

    /// The region; by default us-east-1, as in AWS's own command.
    fn region(&self) -> Result<String, ConfigError> {
        let variable = self.variable("AWS_REGION").or_else(|| self.variable("AWS_DEFAULT_REGION"));
        let region = variable.or_else(|| self.profile.value("region").map(str::to_owned));
        let region = region.unwrap_or_else(|| "us-east-1".to_owned());
        if is_region(&region) {
            Ok(region)
        } else {
            Err(ConfigError::InvalidValue { setting: "region", value: region })
        }
    }

    /// The first endpoint that is configured, in the documented order; `None` if there is none.
    fn endpoint(&self, options: &ServerOptions) -> Result<Option<Endpoint>, ConfigError> {
        let is_ignored = self.is_variable_true("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS")
            || self.profile.value("ignore_configured_endpoint_urls").is_some_and(is_true);
        let configured = || {
            let of_profile = self.profile.value("endpoint_url").map(str::to_owned);
            let given = [
                ("AWS_ENDPOINT_URL_S3", self.variable("AWS_ENDPOINT_URL_S3")),
                ("AWS_ENDPOINT_URL", self.variable("AWS_ENDPOINT_URL")),
                ("endpoint_url of services", self.profile.s3_service_value("endpoint_url")),
                ("endpoint_url of s3", self.profile.s3_value("endpoint_url")),
                ("endpoint_url", of_profile),
            ];
            given.into_iter().find_map(|(place, text)| Some((place, text?)))
        };
        let explicit = options.endpoint.clone().map(|text| ("--endpoint", text));
        let given = explicit.or_else(|| if is_ignored { None } else { configured() });
        let Some((place, text)) = given else { return Ok(None) };
        text.parse().map(Some).map_err(|cause| ConfigError::Endpoint { place, cause })
    }

    /// Amazon's default endpoint; an error if a setting requests another one of Amazon's endpoints.
    fn default_endpoint(&self, region: &str) -> Result<Endpoint, ConfigError> {
        let settings = [
            ("AWS_USE_FIPS_ENDPOINT", self.variable("AWS_USE_FIPS_ENDPOINT")),
            ("AWS_USE_DUALSTACK_ENDPOINT", self.variable("AWS_USE_DUALSTACK_ENDPOINT")),
            ("use_fips_endpoint", self.profile.value("use_fips_endpoint").map(str::to_owned)),
            ("use_dualstack_endpoint", self.profile.value("use_dualstack_endpoint").map(str::to_owned)),
            ("use_accelerate_endpoint of s3", self.profile.s3_value("use_accelerate_endpoint")),
        ];
        match settings.into_iter().find(|(_, value)| value.as_deref().is_some_and(is_true)) {
            Some((setting, _)) => Err(ConfigError::UnsupportedEndpoint(setting)),
            None => Ok(Endpoint::for_region(region)),
        }
    }

    /// How requests name the bucket; `None` if the profile leaves it to the endpoint.
    fn style(&self) -> Result<Option<BucketStyle>, ConfigError> {
        let Some(value) = self.profile.s3_value("addressing_style") else { return Ok(None) };
        match value.as_str() {
            "auto" => Ok(None),
            "path" => Ok(Some(BucketStyle::Path)),
            "virtual" => Ok(Some(BucketStyle::Virtual)),
            _ => Err(ConfigError::InvalidValue { setting: "addressing_style", value }),
        }
    }

    /// The keys from the first source that has keys.
    fn credentials(&self) -> Result<Credentials, ConfigError> {
        if let Some(credentials) = self.credentials_of_variables()? {
            return Ok(credentials);
        }
        if self.variable("AWS_WEB_IDENTITY_TOKEN_FILE").is_some() {
            return Err(ConfigError::UnsupportedKeySource("AWS_WEB_IDENTITY_TOKEN_FILE".to_owned()));
        }
        let foreign =
            ["role_arn", "web_identity_token_file", "sso_session", "sso_start_url", "login_session"];
        if let Some(setting) = foreign.into_iter().find(|setting| self.profile.value(setting).is_some()) {
            let place = format!("{setting} of the profile '{}'", printable(&self.profile.name));
            return Err(ConfigError::UnsupportedKeySource(place));
        }
        if let Some(credentials) = self.credentials_of_profile()? {
            return Ok(credentials);
        }
        if let Some(command) = self.profile.value("credential_process") {
            return self.credentials_of_process(command);
        }
        let services = ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"];
        match services.into_iter().find(|service| self.variable(service).is_some()) {
            Some(service) => Err(ConfigError::UnsupportedKeySource(service.to_owned())),
            None => Err(ConfigError::NoCredentials),
        }
    }

    fn credentials_of_variables(&self) -> Result<Option<Credentials>, ConfigError> {
        let key = self.variable("AWS_ACCESS_KEY_ID");
        let secret = self.variable("AWS_SECRET_ACCESS_KEY");
        let Some(mut credentials) = key_pair(key, secret, || "the environment".to_owned())? else {
            return Ok(None);
        };
        credentials.session_token = self.variable("AWS_SESSION_TOKEN").as_deref().map(Secret::new);
        // `aws configure export-credentials` sets this variable.
        let expires = self.variable("AWS_CREDENTIAL_EXPIRATION");
        credentials.expires_at = expires.and_then(|time| time.parse().ok());
        self.check_not_expired(credentials).map(Some)
    }

    fn credentials_of_profile(&self) -> Result<Option<Credentials>, ConfigError> {
        let value = |name| self.profile.value(name).map(str::to_owned);
        let place = || format!("the profile '{}'", printable(&self.profile.name));
        let credentials = key_pair(value("aws_access_key_id"), value("aws_secret_access_key"), place)?;
        let token = self.profile.value("aws_session_token").map(Secret::new);
        Ok(credentials.map(|credentials| Credentials { session_token: token, ..credentials }))
    }

    fn credentials_of_process(&self, command: &str) -> Result<Credentials, ConfigError> {
        let failed = |cause: String| ConfigError::Process { profile: self.profile.name.clone(), cause };
        let check_trust = |path: &Path| {
            self.surroundings.check_trust(path).map_err(|distrust| failed(distrust.to_string()))
        };
        self.profile.files.iter().try_for_each(|file| check_trust(file))?;
        // The words of the command may contain secrets, so no error shows them.
        let mut words = shell_words::split(command).map_err(|error| failed(error.to_string()))?;
        if words.is_empty() {
            return Err(failed("it is empty".to_owned()));
        }
        let program = words.remove(0);
        // A program without a folder is found on the PATH, which the user chose. A path among the
        // other words may be a script that the program runs.
        let is_path = |word: &&String| word.starts_with('/') || word.starts_with("./");
        let own_path = Some(&program).filter(|program| program.contains('/'));
        own_path
            .into_iter()
            .chain(words.iter().filter(is_path))
            .try_for_each(|path| check_trust(Path::new(path)))?;
        let said = self.surroundings.run(&program, &words).map_err(|error| failed(error.to_string()))?;
        let printed: Option<ProcessOutput> = serde_json::from_str(&said).ok();
        let printed = printed.filter(|printed| printed.version == 1);
        let printed =
            printed.ok_or_else(|| failed("it did not print credentials in version 1".to_owned()))?;
        let mut credentials = Credentials::new(&printed.access_key_id, &printed.secret_access_key);
        credentials.session_token = printed.session_token.as_deref().map(Secret::new);
        credentials.expires_at = printed.expiration.and_then(|time| time.parse().ok());
        self.check_not_expired(credentials)
    }

    fn check_not_expired(&self, credentials: Credentials) -> Result<Credentials, ConfigError> {
        match credentials.expires_at {
            Some(expires) if expires <= self.surroundings.now() => Err(ConfigError::Expired(expires)),
            _ => Ok(credentials),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ProcessOutput {
    version: u64,
    access_key_id: String,
    secret_access_key: String,
    session_token: Option<String>,
    expiration: Option<String>,
}

/// A key with its secret; `None` if both are missing, and an error if only one is missing.
fn key_pair(
    key: Option<String>,
    secret: Option<String>,
    place: impl Fn() -> String,
) -> Result<Option<Credentials>, ConfigError> {
    match (key, secret) {
        (Some(key), Some(secret)) => Ok(Some(Credentials::new(&key, &secret))),
        (None, None) => Ok(None),
        _ => Err(ConfigError::IncompleteKey(place())),
    }
}

/// True if a text can be the name of a region.
pub fn is_region(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

fn is_true(value: &str) -> bool {
    ["1", "true", "yes", "on"].iter().any(|word| value.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests;
