//! Stores from variables, files and programs that are only in the tests.

use super::*;
use std::collections::HashMap;
use std::path::Path;

/// Surroundings that hold what a test puts there.
#[derive(Default)]
struct Made {
    variables: HashMap<&'static str, String>,
    files: HashMap<&'static str, Result<String, io::ErrorKind>>,
    /// What each command line prints.
    programs: HashMap<&'static str, String>,
}

impl Made {
    /// With a home and a key in the environment.
    fn signed() -> Made {
        Made::home().with("AWS_ACCESS_KEY_ID", "the-key").with("AWS_SECRET_ACCESS_KEY", "the-secret")
    }

    fn home() -> Made {
        Made::default().with("HOME", "/home/u")
    }

    fn with(mut self, variable: &'static str, value: &str) -> Made {
        self.variables.insert(variable, value.to_owned());
        self
    }

    fn file(mut self, path: &'static str, text: &str) -> Made {
        self.files.insert(path, Ok(text.to_owned()));
        self
    }

    fn config(self, text: &str) -> Made {
        self.file("/home/u/.aws/config", text)
    }

    fn keys(self, text: &str) -> Made {
        self.file("/home/u/.aws/credentials", text)
    }

    fn program(mut self, line: &'static str, output: &str) -> Made {
        self.programs.insert(line, output.to_owned());
        self
    }

    fn store(&self) -> Store {
        Store::configured(&ServerOptions::default(), self).unwrap()
    }

    fn endpoint(&self) -> String {
        self.store().endpoint.to_string()
    }

    fn access_key(&self) -> String {
        self.store().credentials.unwrap().access_key
    }

    fn error(&self) -> String {
        let error = Store::configured(&ServerOptions::default(), self).unwrap_err();
        let shown = error.to_string();
        assert!(!shown.contains('\n') && !format!("{error:?}{shown}").contains("the-"), "{shown}");
        shown
    }
}

impl Surroundings for Made {
    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned().filter(|value| !value.is_empty())
    }

    fn read(&self, path: &Path) -> io::Result<String> {
        match self.files.get(path.to_str().unwrap()) {
            Some(file) => file.clone().map_err(io::Error::from),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn run(&self, program: &str, args: &[String]) -> io::Result<String> {
        let line = [&[program.to_owned()], args].concat().join("|");
        self.programs.get(line.as_str()).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn now(&self) -> Timestamp {
        "2025-01-01T12:00:00Z".parse().unwrap()
    }
}

#[test]
fn a_key_alone_means_amazons_first_region_and_virtual_hosts() {
    let store = Made::signed().store();
    assert_eq!(store.endpoint.to_string(), "https://s3.us-east-1.amazonaws.com");
    assert_eq!((store.region.as_str(), store.style), ("us-east-1", Style::Virtual));
    let credentials = store.credentials.unwrap();
    assert_eq!((credentials.access_key.as_str(), credentials.secret.reveal()), ("the-key", "the-secret"));
    assert_eq!(credentials.session_token, None);
}

#[test]
fn variables_come_before_files() {
    let config = "[default]\nregion = eu-west-1\nendpoint_url = http://of-profile\n";
    let made =
        || Made::signed().config(config).keys("[default]\naws_access_key_id=k\naws_secret_access_key=s\n");
    assert_eq!(made().store().region, "eu-west-1");
    assert_eq!(made().with("AWS_DEFAULT_REGION", "eu-west-2").store().region, "eu-west-2");
    let both = made().with("AWS_DEFAULT_REGION", "eu-west-2").with("AWS_REGION", "eu-west-3");
    assert_eq!(both.store().region, "eu-west-3");
    assert_eq!(made().access_key(), "the-key");
    assert_eq!(made().with("AWS_REGION", "").store().region, "eu-west-1", "an empty variable is none");
    assert!(made().with("AWS_REGION", "evil.example/").error().contains("region: 'evil.example/'"));
}

#[test]
fn endpoints_come_in_their_documented_order() {
    let config = "[default]\nservices = here\nendpoint_url = http://of-profile\n\
                  [services here]\ns3 =\n  endpoint_url = http://of-services\n\
                  [services other]\ns3 =\n  endpoint_url = http://other\n";
    let without = config.replacen("services = here\n", "", 1);
    assert_eq!(Made::signed().config(&without).endpoint(), "http://of-profile");
    let made = || Made::signed().config(config);
    assert_eq!(made().endpoint(), "http://of-services");
    let all = made().with("AWS_ENDPOINT_URL", "http://for-all");
    assert_eq!(all.endpoint(), "http://for-all");
    let all = all.with("AWS_ENDPOINT_URL_S3", "http://for-s3/");
    assert_eq!(all.endpoint(), "http://for-s3");
    let options = ServerOptions { endpoint: Some("http://named:1".to_owned()), ..ServerOptions::default() };
    let ignoring = all.with("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true");
    assert_eq!(ignoring.endpoint(), "https://s3.us-east-1.amazonaws.com");
    assert_eq!(Store::configured(&options, &ignoring).unwrap().endpoint.to_string(), "http://named:1");
    let wrong = Made::signed().with("AWS_ENDPOINT_URL", "http://user:the-password@host");
    assert!(wrong.error().contains("AWS_ENDPOINT_URL: an endpoint with a user"));
}

#[test]
fn the_style_follows_the_endpoint_unless_it_is_configured() {
    let endpoint = || Made::signed().with("AWS_ENDPOINT_URL_S3", "http://host");
    assert_eq!(endpoint().store().style, Style::Path);
    let config = |style: &str| {
        format!("[default]\ns3 =\n    max_queue_size = 5\n    addressing_style = {style}\nregion = a\n")
    };
    assert_eq!(endpoint().config(&config("virtual")).store().style, Style::Virtual);
    assert_eq!(endpoint().config(&config("auto")).store().style, Style::Path);
    let path = Made::signed().config(&config("path")).store();
    assert_eq!((path.style, path.region.as_str()), (Style::Path, "a"));
    assert!(Made::signed().config(&config("host")).error().contains("addressing_style: 'host'"));
}

#[test]
fn a_profile_is_what_both_files_have_under_its_name() {
    let config = "# a comment\nregion = of-no-profile\n[default]\nregion = of-default\n\n\
                  [profile work]\nregion=of-work ; kept as it is\n[profile \"two words\"]\nregion = of-two\n";
    let keys = "[default]\naws_access_key_id = d\naws_secret_access_key = ds\n\
                [work]\naws_access_key_id = w\naws_secret_access_key = w/+=#;s\naws_session_token = wt==\n";
    let made = || Made::home().config(config).keys(keys);
    assert_eq!((made().access_key(), made().store().region), ("d".to_owned(), "of-default".to_owned()));
    let work = made().config(&config.replace(" ; kept as it is", "")).with("AWS_PROFILE", "work").store();
    let credentials = work.credentials.unwrap();
    assert_eq!((work.region.as_str(), credentials.secret.reveal()), ("of-work", "w/+=#;s"));
    assert_eq!(credentials.session_token.unwrap().reveal(), "wt==");
    let two = Made::signed().config(config).with("AWS_PROFILE", "two words");
    assert_eq!(two.store().region, "of-two");
    assert_eq!(made().with("AWS_PROFILE", "none").error(), "AWS_PROFILE: no file has a profile 'none'");
    let without = made().with("AWS_PROFILE", "two words").error();
    assert!(without.contains("no credentials"), "default gives nothing");
}

#[test]
fn the_file_of_keys_comes_before_the_other_one() {
    let one = "[default]\naws_access_key_id = one\naws_secret_access_key = s\n";
    let made = Made::home().config(one).keys(&one.replace("one", "other"));
    assert_eq!(made.access_key(), "other");
    assert_eq!(Made::home().config(one).access_key(), "one");
}

#[test]
fn profiles_differ_by_their_case_and_what_is_before_them_is_of_none() {
    let config =
        "region = of-no-profile\n[profile Work]\nregion = of-upper\n[profile work]\nregion = of-lower\n";
    let region = |made: Made| made.config(config).store().region;
    assert_eq!(region(Made::signed().with("AWS_PROFILE", "Work")), "of-upper");
    assert_eq!(region(Made::signed().with("AWS_PROFILE", "work")), "of-lower");
    assert_eq!(region(Made::signed()), "us-east-1");
}

#[test]
fn the_files_may_be_elsewhere_and_missing_ones_are_empty() {
    let made = Made::signed()
        .with("AWS_CONFIG_FILE", "~/elsewhere")
        .file("/home/u/elsewhere", "[default]\nregion = x\n");
    assert_eq!(made.store().region, "x");
    assert_eq!(Made::signed().with("AWS_CONFIG_FILE", "/none").store().region, "us-east-1");
    let mut denied = Made::signed();
    denied.files.insert("/home/u/.aws/config", Err(io::ErrorKind::PermissionDenied));
    assert!(denied.error().starts_with("/home/u/.aws/config: permission denied"));
    let broken = Made::signed().keys("[default\naws_secret_access_key = the-secret\n");
    assert!(broken.error().starts_with("/home/u/.aws/credentials: not a file of sections"));
}

#[test]
fn half_a_key_is_an_error() {
    let half = Made::home().with("AWS_ACCESS_KEY_ID", "the-key").error();
    assert!(half.contains("the environment: an access key"));
    let keys = "[default]\naws_secret_access_key = the-secret\n";
    assert!(Made::home().keys(keys).error().contains("the profile 'default': an access key"));
}

#[test]
fn keys_from_other_services_are_refused_with_the_way_to_get_them() {
    for setting in ["role_arn = arn", "sso_session = s", "sso_start_url = u", "web_identity_token_file = f"] {
        let error = Made::home().config(&format!("[default]\n{setting}\n")).error();
        assert!(error.contains("aws configure export-credentials --format env"), "{error}");
        assert!(error.starts_with(setting.split(' ').next().unwrap()), "{error}");
    }
    for variable in ["AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_FULL_URI"] {
        assert!(Made::home().with(variable, "x").error().starts_with(variable));
    }
    let role = "[default]\nrole_arn = arn\n";
    assert_eq!(Made::signed().config(role).access_key(), "the-key", "variables come first");
}

#[test]
fn without_keys_the_error_says_what_there_is_and_public_objects_need_none() {
    assert!(Made::home().error().contains("AWS_NO_SIGN_REQUEST"));
    assert!(Made::default().error().contains("no credentials"));
    assert_eq!(Made::signed().with("AWS_NO_SIGN_REQUEST", "YES").store().credentials, None);
    assert!(Made::signed().with("AWS_NO_SIGN_REQUEST", "no").store().credentials.is_some());
    let options = ServerOptions { unsigned: true, ..ServerOptions::default() };
    assert_eq!(Store::configured(&options, &Made::home()).unwrap().credentials, None);
}

#[test]
fn a_program_may_give_the_keys() {
    const CONFIG: &str = "[default]\ncredential_process = /opt/my\\ keys --for \"a b\" '#1'\n";
    const LINE: &str = "/opt/my keys|--for|a b|#1";
    let json = |expires: &str| {
        format!(
            "{{\"Version\":1,\n \"AccessKeyId\":\"k\",\"SecretAccessKey\":\"the-secret\",\"SessionToken\":\"t\",\"Expiration\":\"{expires}\"}}"
        )
    };
    let made = |output: &str| Made::home().config(CONFIG).program(LINE, output);
    let credentials = made(&json("2025-01-01T12:00:01Z")).store().credentials.unwrap();
    assert_eq!((credentials.access_key.as_str(), credentials.session_token.unwrap().reveal()), ("k", "t"));
    assert!(credentials.expires.is_some());
    let forever = "{\"Version\":1,\"AccessKeyId\":\"k\",\"SecretAccessKey\":\"s\"}";
    assert_eq!(made(forever).store().credentials.unwrap().expires, None);
    assert!(made(&json("2025-01-01T12:00:00+00:00")).error().contains("expired at 2025-01-01T12:00:00Z"));
    let wrong = "{\"Version\":\"the-secret\",\"AccessKeyId\":\"the-key\",\"SecretAccessKey\":\"s\"}";
    for wrong in ["", "the-secret", wrong, &forever.replace('1', "2")] {
        assert!(made(wrong).error().contains("did not print credentials in version 1"), "{wrong}");
    }
    let absent =
        Made::home().config("[default]\ncredential_process = /opt/the-program --secret the-secret\n");
    assert!(absent.error().starts_with("credential_process of the profile 'default': "));
}

#[test]
fn keys_that_have_expired_are_refused() {
    let made = Made::signed().with("AWS_CREDENTIAL_EXPIRATION", "2025-01-01T11:59:59+00:00");
    assert!(made.error().contains("expired"));
}

#[test]
fn endpoints_of_amazon_that_are_not_followed_are_no_silent_difference() {
    let made = || Made::signed().with("AWS_USE_FIPS_ENDPOINT", "true");
    assert!(made().error().contains("AWS_USE_FIPS_ENDPOINT: readlab does not follow it"));
    let named = "https://s3-fips.example";
    assert_eq!(made().with("AWS_ENDPOINT_URL", named).endpoint(), named);
    let config = "[default]\ns3=\n use_accelerate_endpoint = true\n";
    assert!(Made::signed().config(config).error().contains("use_accelerate_endpoint"));
}
