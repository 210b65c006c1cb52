//! Stores from environment variables, files and programs that exist only in the tests.

use super::*;
use readlab_system::trust::{self, Distrust};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;

/// The environment that a test defines.
#[derive(Default)]
struct TestSurroundings {
    variables: HashMap<&'static str, String>,
    files: HashMap<&'static str, Result<String, io::ErrorKind>>,
    /// The output of each command line.
    programs: HashMap<&'static str, String>,
    /// The files whose trust was checked.
    checked: RefCell<Vec<PathBuf>>,
    /// A file that another user could have written.
    distrusted: Option<PathBuf>,
    has_run: Cell<bool>,
}

impl TestSurroundings {
    /// An environment with a home folder and a key.
    fn with_key() -> TestSurroundings {
        TestSurroundings::with_home()
            .with_variable("AWS_ACCESS_KEY_ID", "the-key")
            .with_variable("AWS_SECRET_ACCESS_KEY", "the-secret")
    }

    /// An environment with a home folder.
    fn with_home() -> TestSurroundings {
        TestSurroundings::default().with_variable("HOME", "/home/u")
    }

    fn with_variable(mut self, variable: &'static str, value: &str) -> TestSurroundings {
        self.variables.insert(variable, value.to_owned());
        self
    }

    fn with_file(mut self, path: &'static str, text: &str) -> TestSurroundings {
        self.files.insert(path, Ok(text.to_owned()));
        self
    }

    fn with_config_file(self, text: &str) -> TestSurroundings {
        self.with_file("/home/u/.aws/config", text)
    }

    fn with_credentials_file(self, text: &str) -> TestSurroundings {
        self.with_file("/home/u/.aws/credentials", text)
    }

    fn with_program(mut self, line: &'static str, output: &str) -> TestSurroundings {
        self.programs.insert(line, output.to_owned());
        self
    }

    fn store(&self) -> Store {
        Store::from_configuration(&ServerOptions::default(), self).unwrap()
    }

    fn endpoint(&self) -> String {
        self.store().endpoint.to_string()
    }

    fn access_key(&self) -> String {
        self.store().credentials.unwrap().access_key
    }

    fn error(&self) -> String {
        let error = Store::from_configuration(&ServerOptions::default(), self).unwrap_err();
        let shown = error.to_string();
        assert!(!shown.contains('\n') && !format!("{error:?}{shown}").contains("the-"), "{shown}");
        shown
    }
}

impl Surroundings for TestSurroundings {
    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned().filter(|value| !value.is_empty())
    }

    fn read(&self, path: &Path) -> io::Result<String> {
        match self.files.get(path.to_str().unwrap()) {
            Some(file) => file.clone().map_err(io::Error::from),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn check_trust(&self, path: &Path) -> Result<(), Distrust> {
        self.checked.borrow_mut().push(path.to_owned());
        match &self.distrusted {
            Some(distrusted) if distrusted == path => trust::check(path),
            _ => Ok(()),
        }
    }

    fn run(&self, program: &str, args: &[String]) -> io::Result<String> {
        self.has_run.set(true);
        let line = [&[program.to_owned()], args].concat().join("|");
        self.programs.get(line.as_str()).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn now(&self) -> Timestamp {
        "2025-01-01T12:00:00Z".parse().unwrap()
    }
}

#[test]
fn a_key_without_settings_means_us_east_1_and_virtual_hosts() {
    let store = TestSurroundings::with_key().store();
    assert_eq!(store.endpoint.to_string(), "https://s3.us-east-1.amazonaws.com");
    assert_eq!((store.region.as_str(), store.style), ("us-east-1", BucketStyle::Virtual));
    let credentials = store.credentials.unwrap();
    assert_eq!((credentials.access_key.as_str(), credentials.secret.reveal()), ("the-key", "the-secret"));
    assert_eq!(credentials.session_token, None);
}

#[test]
fn environment_variables_take_precedence_over_files() {
    let config = "[default]\nregion = eu-west-1\nendpoint_url = http://of-profile\n";
    let made = || {
        TestSurroundings::with_key()
            .with_config_file(config)
            .with_credentials_file("[default]\naws_access_key_id=k\naws_secret_access_key=s\n")
    };
    assert_eq!(made().store().region, "eu-west-1");
    assert_eq!(made().with_variable("AWS_DEFAULT_REGION", "eu-west-2").store().region, "eu-west-2");
    let both =
        made().with_variable("AWS_DEFAULT_REGION", "eu-west-2").with_variable("AWS_REGION", "eu-west-3");
    assert_eq!(both.store().region, "eu-west-3");
    assert_eq!(made().access_key(), "the-key");
    assert_eq!(
        made().with_variable("AWS_REGION", "").store().region,
        "eu-west-1",
        "an empty variable is none"
    );
    assert!(made().with_variable("AWS_REGION", "evil.example/").error().contains("region: 'evil.example/'"));
}

#[test]
fn endpoint_settings_have_their_documented_precedence() {
    let config = "[default]\nservices = here\nendpoint_url = http://of-profile\n\
                  [services here]\ns3 =\n  endpoint_url = http://of-services\n\
                  [services other]\ns3 =\n  endpoint_url = http://other\n";
    let without = config.replacen("services = here\n", "", 1);
    assert_eq!(TestSurroundings::with_key().with_config_file(&without).endpoint(), "http://of-profile");
    let made = || TestSurroundings::with_key().with_config_file(config);
    assert_eq!(made().endpoint(), "http://of-services");
    let all = made().with_variable("AWS_ENDPOINT_URL", "http://for-all");
    assert_eq!(all.endpoint(), "http://for-all");
    let all = all.with_variable("AWS_ENDPOINT_URL_S3", "http://for-s3/");
    assert_eq!(all.endpoint(), "http://for-s3");
    let options = ServerOptions { endpoint: Some("http://named:1".to_owned()), ..ServerOptions::default() };
    let ignoring = all.with_variable("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true");
    assert_eq!(ignoring.endpoint(), "https://s3.us-east-1.amazonaws.com");
    assert_eq!(
        Store::from_configuration(&options, &ignoring).unwrap().endpoint.to_string(),
        "http://named:1"
    );
    let wrong =
        TestSurroundings::with_key().with_variable("AWS_ENDPOINT_URL", "http://user:the-password@host");
    assert!(wrong.error().contains("AWS_ENDPOINT_URL: an endpoint with a user"));
}

#[test]
fn the_addressing_style_follows_the_endpoint_unless_it_is_configured() {
    let endpoint = || TestSurroundings::with_key().with_variable("AWS_ENDPOINT_URL_S3", "http://host");
    assert_eq!(endpoint().store().style, BucketStyle::Path);
    let config = |style: &str| {
        format!("[default]\ns3 =\n    max_queue_size = 5\n    addressing_style = {style}\nregion = a\n")
    };
    assert_eq!(endpoint().with_config_file(&config("virtual")).store().style, BucketStyle::Virtual);
    assert_eq!(endpoint().with_config_file(&config("auto")).store().style, BucketStyle::Path);
    let path = TestSurroundings::with_key().with_config_file(&config("path")).store();
    assert_eq!((path.style, path.region.as_str()), (BucketStyle::Path, "a"));
    assert!(
        TestSurroundings::with_key()
            .with_config_file(&config("host"))
            .error()
            .contains("addressing_style: 'host'")
    );
}

#[test]
fn a_profile_combines_the_sections_of_both_files() {
    let config = "# a comment\nregion = of-no-profile\n[default]\nregion = of-default\n\n\
                  [profile work]\nregion=of-work ; kept as it is\n[profile \"two words\"]\nregion = of-two\n";
    let keys = "[default]\naws_access_key_id = d\naws_secret_access_key = ds\n\
                [work]\naws_access_key_id = w\naws_secret_access_key = w/+=#;s\naws_session_token = wt==\n";
    let made = || TestSurroundings::with_home().with_config_file(config).with_credentials_file(keys);
    assert_eq!((made().access_key(), made().store().region), ("d".to_owned(), "of-default".to_owned()));
    let work = made()
        .with_config_file(&config.replace(" ; kept as it is", ""))
        .with_variable("AWS_PROFILE", "work")
        .store();
    let credentials = work.credentials.unwrap();
    assert_eq!((work.region.as_str(), credentials.secret.reveal()), ("of-work", "w/+=#;s"));
    assert_eq!(credentials.session_token.unwrap().reveal(), "wt==");
    let two = TestSurroundings::with_key().with_config_file(config).with_variable("AWS_PROFILE", "two words");
    assert_eq!(two.store().region, "of-two");
    assert_eq!(
        made().with_variable("AWS_PROFILE", "none").error(),
        "AWS_PROFILE: no file has a profile 'none'"
    );
    let without = made().with_variable("AWS_PROFILE", "two words").error();
    assert!(without.contains("no credentials"), "default gives nothing");
}

#[test]
fn the_credentials_file_takes_precedence_over_the_config_file() {
    let one = "[default]\naws_access_key_id = one\naws_secret_access_key = s\n";
    let made = TestSurroundings::with_home()
        .with_config_file(one)
        .with_credentials_file(&one.replace("one", "other"));
    assert_eq!(made.access_key(), "other");
    assert_eq!(TestSurroundings::with_home().with_config_file(one).access_key(), "one");
}

#[test]
fn profile_names_are_case_sensitive_and_settings_before_sections_are_ignored() {
    let config =
        "region = of-no-profile\n[profile Work]\nregion = of-upper\n[profile work]\nregion = of-lower\n";
    let region = |made: TestSurroundings| made.with_config_file(config).store().region;
    assert_eq!(region(TestSurroundings::with_key().with_variable("AWS_PROFILE", "Work")), "of-upper");
    assert_eq!(region(TestSurroundings::with_key().with_variable("AWS_PROFILE", "work")), "of-lower");
    assert_eq!(region(TestSurroundings::with_key()), "us-east-1");
}

#[test]
fn environment_variables_move_the_files_and_missing_files_are_empty() {
    let made = TestSurroundings::with_key()
        .with_variable("AWS_CONFIG_FILE", "~/elsewhere")
        .with_file("/home/u/elsewhere", "[default]\nregion = x\n");
    assert_eq!(made.store().region, "x");
    assert_eq!(
        TestSurroundings::with_key().with_variable("AWS_CONFIG_FILE", "/none").store().region,
        "us-east-1"
    );
    let mut denied = TestSurroundings::with_key();
    denied.files.insert("/home/u/.aws/config", Err(io::ErrorKind::PermissionDenied));
    assert!(denied.error().starts_with("/home/u/.aws/config: permission denied"));
    let broken =
        TestSurroundings::with_key().with_credentials_file("[default\naws_secret_access_key = the-secret\n");
    assert!(broken.error().starts_with("/home/u/.aws/credentials: not a file of sections"));
}

#[test]
fn a_key_without_its_secret_is_an_error() {
    let half = TestSurroundings::with_home().with_variable("AWS_ACCESS_KEY_ID", "the-key").error();
    assert!(half.contains("the environment: an access key"));
    let keys = "[default]\naws_secret_access_key = the-secret\n";
    assert!(
        TestSurroundings::with_home()
            .with_credentials_file(keys)
            .error()
            .contains("the profile 'default': an access key")
    );
}

#[test]
fn keys_from_other_services_are_rejected_with_the_command_that_exports_them() {
    for setting in ["role_arn = arn", "sso_session = s", "sso_start_url = u", "web_identity_token_file = f"] {
        let error =
            TestSurroundings::with_home().with_config_file(&format!("[default]\n{setting}\n")).error();
        assert!(error.contains("aws configure export-credentials --format env"), "{error}");
        assert!(error.starts_with(setting.split(' ').next().unwrap()), "{error}");
    }
    for variable in ["AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_FULL_URI"] {
        assert!(TestSurroundings::with_home().with_variable(variable, "x").error().starts_with(variable));
    }
    let role = "[default]\nrole_arn = arn\n";
    assert_eq!(
        TestSurroundings::with_key().with_config_file(role).access_key(),
        "the-key",
        "variables come first"
    );
}

#[test]
fn without_keys_the_error_names_the_searched_sources_and_public_objects_need_no_keys() {
    assert!(TestSurroundings::with_home().error().contains("AWS_NO_SIGN_REQUEST"));
    assert!(TestSurroundings::default().error().contains("no credentials"));
    assert_eq!(
        TestSurroundings::with_key().with_variable("AWS_NO_SIGN_REQUEST", "YES").store().credentials,
        None
    );
    assert!(
        TestSurroundings::with_key().with_variable("AWS_NO_SIGN_REQUEST", "no").store().credentials.is_some()
    );
    let options = ServerOptions { is_unsigned: true, ..ServerOptions::default() };
    assert_eq!(
        Store::from_configuration(&options, &TestSurroundings::with_home()).unwrap().credentials,
        None
    );
}

#[test]
fn credential_process_provides_the_keys() {
    const CONFIG: &str = "[default]\ncredential_process = /opt/my\\ keys --for \"a b\" '#1'\n";
    const LINE: &str = "/opt/my keys|--for|a b|#1";
    let json = |expires: &str| {
        format!(
            "{{\"Version\":1,\n \"AccessKeyId\":\"k\",\"SecretAccessKey\":\"the-secret\",\"SessionToken\":\"t\",\"Expiration\":\"{expires}\"}}"
        )
    };
    let made =
        |output: &str| TestSurroundings::with_home().with_config_file(CONFIG).with_program(LINE, output);
    let credentials = made(&json("2025-01-01T12:00:01Z")).store().credentials.unwrap();
    assert_eq!((credentials.access_key.as_str(), credentials.session_token.unwrap().reveal()), ("k", "t"));
    assert!(credentials.expires_at.is_some());
    let forever = "{\"Version\":1,\"AccessKeyId\":\"k\",\"SecretAccessKey\":\"s\"}";
    assert_eq!(made(forever).store().credentials.unwrap().expires_at, None);
    assert!(made(&json("2025-01-01T12:00:00+00:00")).error().contains("expired at 2025-01-01T12:00:00Z"));
    let wrong = "{\"Version\":\"the-secret\",\"AccessKeyId\":\"the-key\",\"SecretAccessKey\":\"s\"}";
    for wrong in ["", "the-secret", wrong, &forever.replace('1', "2")] {
        assert!(made(wrong).error().contains("did not print credentials in version 1"), "{wrong}");
    }
    let absent = TestSurroundings::with_home()
        .with_config_file("[default]\ncredential_process = /opt/the-program --secret the-secret\n");
    assert!(absent.error().starts_with("credential_process of the profile 'default': "));
}

#[test]
fn the_configuration_files_and_the_program_are_checked_before_the_program_runs() {
    let line = |program: &str| format!("[default]\ncredential_process = {program} x\n");
    let config = ".aws/config";
    for (program, checked) in [("/opt/keys", &[config, "/opt/keys"][..]), ("keys", &[config][..])] {
        let surroundings = TestSurroundings::with_home().with_config_file(&line(program));
        surroundings.error();
        let home = Path::new("/home/u");
        assert_eq!(
            *surroundings.checked.borrow(),
            checked.iter().map(|it| home.join(it)).collect::<Vec<_>>()
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    std::fs::write(&script, "").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o777)).unwrap();
    for (program, is_run) in [("'{}'", false), ("sh '{}'", false), ("sh -x ./mine '{}'", false), ("sh", true)]
    {
        let line = line(&program.replace("{}", script.to_str().unwrap()));
        let surroundings = TestSurroundings {
            distrusted: Some(script.clone()),
            ..TestSurroundings::with_home().with_config_file(&line)
        };
        assert_eq!(surroundings.error().contains("every user may write there"), !is_run, "{program}");
        assert_eq!(surroundings.has_run.get(), is_run, "{program}");
    }
    let both = TestSurroundings::with_home()
        .with_config_file("[default]\nregion = x\n")
        .with_credentials_file(&line("keys"));
    both.error();
    assert_eq!(
        *both.checked.borrow(),
        ["config", "credentials"].map(|it| Path::new("/home/u/.aws").join(it))
    );
    let signed = TestSurroundings::with_key().with_config_file(&line("keys"));
    signed.store();
    assert!(signed.checked.borrow().is_empty(), "no program is run");
}

#[test]
fn keys_that_have_expired_are_refused() {
    let made =
        TestSurroundings::with_key().with_variable("AWS_CREDENTIAL_EXPIRATION", "2025-01-01T11:59:59+00:00");
    assert!(made.error().contains("expired"));
}

#[test]
fn unsupported_endpoint_settings_of_amazon_are_errors() {
    let made = || TestSurroundings::with_key().with_variable("AWS_USE_FIPS_ENDPOINT", "true");
    assert!(made().error().contains("AWS_USE_FIPS_ENDPOINT: readlab does not follow it"));
    let named = "https://s3-fips.example";
    assert_eq!(made().with_variable("AWS_ENDPOINT_URL", named).endpoint(), named);
    let config = "[default]\ns3=\n use_accelerate_endpoint = true\n";
    assert!(
        TestSurroundings::with_key().with_config_file(config).error().contains("use_accelerate_endpoint")
    );
}
