//! The secrets in this contender's environment: credentials for a server, and a URL whose query is
//! a secret. Commands are foreign programs. They get the secrets only with the user's permission,
//! and what they print of them is hidden.

use crate::hiding::HiddenTexts;
use readlab_protocol::remote::{
    COMMANDS_GET_CREDENTIALS_VARIABLE, SECRET_VARIABLES, TARGET_ELSEWHERE, TARGET_VARIABLE,
};
use readlab_protocol::serve::Refusal;
use std::ffi::{OsStr, OsString};
use std::process::Command;
use std::sync::Arc;

/// The reason why a command for a URL with a secret query is refused.
const NOT_SHARED_REASON: &str =
    "the query of the URL is a secret, and a command would get it; --commands-get-credentials allows that";

pub(crate) struct Secrets {
    /// Whether the user lets commands have the secrets.
    are_shared: bool,
    /// The URL that must not be on the command line of this contender.
    url: Option<OsString>,
    hiding: Arc<HiddenTexts>,
}

impl Secrets {
    /// The secrets of this process's environment, for a session about the target of this word.
    pub(crate) fn from_session(target: &OsStr) -> Secrets {
        Secrets::from_environment(target, |name| std::env::var_os(name))
    }

    fn from_environment(target: &OsStr, variable: impl Fn(&str) -> Option<OsString>) -> Secrets {
        let are_shared = variable(COMMANDS_GET_CREDENTIALS_VARIABLE).is_some_and(|value| value == "1");
        let url = variable(TARGET_VARIABLE);
        let values = SECRET_VARIABLES.iter().filter(|_| are_shared).filter_map(|name| variable(name));
        let texts: Vec<String> = values.map(|value| value.to_string_lossy().into_owned()).collect();
        let hiding = Arc::new(HiddenTexts::new(&target.to_string_lossy(), &texts));
        Secrets { are_shared, url, hiding }
    }

    pub(crate) fn target(&self, word: &OsStr) -> Result<OsString, Refusal> {
        if word != TARGET_ELSEWHERE {
            return Ok(word.to_owned());
        }
        if !self.are_shared {
            return Err(Refusal::Unavailable(NOT_SHARED_REASON.to_owned()));
        }
        self.url.clone().ok_or_else(|| Refusal::Failed(format!("{TARGET_VARIABLE} is not set")))
    }

    /// Removes the secrets that a command may not have from its environment.
    pub(crate) fn withhold_from(&self, command: &mut Command) {
        command.env_remove(COMMANDS_GET_CREDENTIALS_VARIABLE);
        for name in SECRET_VARIABLES.iter().filter(|_| !self.are_shared) {
            command.env_remove(name);
        }
    }

    pub(crate) fn hiding(&self) -> &Arc<HiddenTexts> {
        &self.hiding
    }

    pub(crate) fn without_secrets(&self, refusal: Refusal) -> Refusal {
        match refusal {
            Refusal::Unavailable(reason) => Refusal::Unavailable(self.hiding.hide(&reason)),
            Refusal::Failed(reason) => Refusal::Failed(self.hiding.hide(&reason)),
        }
    }

    #[cfg(test)]
    pub(crate) fn with_variables(target: &str, variables: &[(&str, &str)]) -> Secrets {
        Secrets::from_environment(OsStr::new(target), |name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://h/o?X-Amz-Signature=0123456789abcdef";
    const SHARED: (&str, &str) = ("READLAB_COMMANDS_GET_CREDENTIALS", "1");
    const SECRET: (&str, &str) = ("AWS_SECRET_ACCESS_KEY", "very/secret+key");
    const SECRET_TARGET: (&str, &str) = ("READLAB_TARGET", URL);

    /// The names of the secret variables that a command sees, if its parent has all of them.
    fn variables_seen_by(secrets: &Secrets) -> Vec<String> {
        let mut env = Command::new("env");
        env.env_clear().env("PATH", "/usr/bin:/bin").env("AWS_REGION", "r").env(SHARED.0, SHARED.1);
        env.envs(SECRET_VARIABLES.map(|name| (name, "secret")));
        secrets.withhold_from(&mut env);
        let printed = String::from_utf8(env.output().unwrap().stdout).unwrap();
        let names = printed.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name.to_owned());
        names.filter(|name| name != "PATH").collect()
    }

    #[test]
    fn a_command_has_no_secret_in_its_environment_unless_the_user_says_so() {
        assert_eq!(
            variables_seen_by(&Secrets::with_variables("s3://b/k", &[SECRET, SECRET_TARGET])),
            ["AWS_REGION"]
        );
        assert_eq!(
            variables_seen_by(&Secrets::with_variables("s3://b/k", &[(SHARED.0, "0"), SECRET])),
            ["AWS_REGION"]
        );
        let mut all = [&SECRET_VARIABLES[..], &["AWS_REGION"]].concat();
        let mut seen = variables_seen_by(&Secrets::with_variables("s3://b/k", &[SHARED, SECRET]));
        all.sort_unstable();
        seen.sort_unstable();
        assert_eq!(seen, all, "the permission itself is for this contender alone");
    }

    #[test]
    fn a_secret_url_is_a_target_only_if_the_user_says_so() {
        let target = |variables: &[_]| Secrets::with_variables("-", variables).target(OsStr::new("-"));
        assert_eq!(target(&[SHARED, SECRET_TARGET]), Ok(OsString::from(URL)));
        let refused = target(&[SECRET_TARGET]).unwrap_err();
        let names_the_flag = |reason: &str| reason.contains("--commands-get-credentials");
        assert!(matches!(&refused, Refusal::Unavailable(reason) if names_the_flag(reason)), "{refused:?}");
        assert!(matches!(target(&[SHARED]), Err(Refusal::Failed(_))));
    }

    #[test]
    fn any_other_target_is_taken_literally() {
        for word in ["/data/a?b", "s3://bucket/key", "https://h/o"] {
            let target = Secrets::with_variables(word, &[SECRET_TARGET]).target(OsStr::new(word));
            assert_eq!(target, Ok(OsString::from(word)));
        }
    }

    #[test]
    fn a_refusal_has_no_secret() {
        let secrets = Secrets::with_variables("-", &[SHARED, SECRET, SECRET_TARGET]);
        let failed = secrets.without_secrets(Refusal::Failed(format!("{URL}: {} is wrong", SECRET.1)));
        assert_eq!(failed, Refusal::Failed("https://h/o?…: … is wrong".to_owned()));
        let unavailable = secrets.without_secrets(Refusal::Unavailable(URL.to_owned()));
        assert_eq!(unavailable, Refusal::Unavailable("https://h/o?…".to_owned()));
    }
}
