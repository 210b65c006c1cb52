//! What each option needs to have an effect. An option that would have no effect on the requested
//! run is refused, because the user expects one.

use super::given::GivenOptions;
use anyhow::bail;
use readlab_system::folder::output_file::is_standard_output;
use readlab_targets::target::s3;
use readlab_targets::target::source::is_remote;
use readlab_targets::target::url::Url;
use std::path::Path;

/// Properties of the requested run on which options depend.
#[derive(Debug, Default)]
struct RequestedRun {
    has_file: bool,
    has_folder: bool,
    has_list: bool,
    has_object: bool,
    has_https: bool,
    /// Whether a target is read from a server, readlab's own or another.
    has_server: bool,
    has_commands: bool,
    has_several_readers: bool,
    reads_blocks: bool,
    has_several_targets: bool,
    reads_cold: bool,
    has_exact_runs: bool,
    is_full_suite: bool,
    reads_trials_equally: bool,
    prints_tables: bool,
}

struct Need {
    is_met: fn(&RequestedRun) -> bool,
    /// The end of the error message, after the name of the option.
    message_end: &'static str,
}

struct OptionNeeds {
    /// The verbs to which the entry applies; all verbs if the list is empty.
    verbs: &'static [&'static str],
    /// The names of the options, separated by spaces.
    option_names: &'static str,
    needs: &'static [Need],
}

const NEEDS_FILE: Need = need(|run| run.has_file, " needs a file of this machine, and no target is one");
const NEEDS_TREE: Need =
    need(|run| run.has_folder || run.has_list, " is about the files of a folder, and no target is one");
const NEEDS_FOLDER: Need =
    need(|run| run.has_folder, " is about what is below a folder, and no target is one");
const NEEDS_PLACE_OF_FILE: Need =
    need(|run| run.has_folder, " is about the file that is made in a folder, and this is none");
const NEEDS_OBJECT: Need =
    need(|run| run.has_object, " is about S3 stores of others, and no target is in one (s3://BUCKET/KEY)");
const NEEDS_ENCRYPTION: Need = need(
    |run| run.has_https || run.has_object,
    " is about servers that encrypt, and no target is on one (https://)",
);
const NEEDS_SERVER: Need = need(|run| run.has_server, " is about servers, and no target is on one");
const NEEDS_COMMANDS: Need = need(|run| run.has_commands, " is about commands, and there is none: -c");
const NEEDS_SEVERAL_READERS: Need = need(
    |run| run.has_several_readers,
    " is about the readers beside the first, and --readers has no number above 1",
);
const NEEDS_BLOCKS: Need =
    need(|run| run.reads_blocks, " is about blocks of a file, and none are read: --pattern or --ranges");
const NEEDS_SEVERAL_TARGETS: Need =
    need(|run| run.has_several_targets, " is about several targets, and there is one");
const NEEDS_COLD: Need = need(|run| run.reads_cold, " is about cold readings, and --state warm has none");
const NEEDS_NO_EXACT_RUNS: Need = need(
    |run| !run.has_exact_runs,
    " is about when a trial may stop, and with --runs it has that many readings",
);
const NEEDS_EVERYDAY_SUITE: Need = need(
    |run| !run.is_full_suite,
    " is about when a trial may stop, and with --full it has its most readings or its most time",
);
const NEEDS_ONE_FASTEST: Need = need(
    |run| !run.reads_trials_equally,
    " is about which trials stop first, and with --runs or --min-runs all are read alike",
);
const NEEDS_TABLES: Need = need(
    |run| run.prints_tables,
    " is about tables, and none is printed: --quiet, or an export on standard output",
);
const FLEET_READS_FILES: Need = never_met(": a fleet reads files");
const FLEET_READS_ONE_FILE: Need =
    never_met(": a fleet reads one file, or one a rank with {rank} in its path");
const FLEET_READS_NO_PLACES: Need = never_met(": the ranks of a fleet read whole files or parts, not places");
const FLEET_SPLITS_FILES: Need =
    never_met(": the ranks of a fleet read whole files, or parts by --share split");
const FLEET_READS_TOGETHER: Need =
    never_met(": the ranks of a fleet read together already; start more of them on a host");
const FLEET_HAS_HOST_SETTINGS: Need =
    never_met(": the ranks of a fleet read under the settings that their hosts have");
const FLEET_HAS_HOST_MEMORY: Need =
    never_met(": the ranks of a fleet read with the memory that their hosts have");
const FLEET_HAS_NO_DICTIONARY: Need = never_met(": the ranks of a fleet decode without a dictionary");

const fn need(is_met: fn(&RequestedRun) -> bool, message_end: &'static str) -> Need {
    Need { is_met, message_end }
}

const fn never_met(message_end: &'static str) -> Need {
    need(|_| false, message_end)
}

const FLEET_VERBS: &[&str] = &["fleet race", "fleet scale"];

/// An entry for some verbs takes precedence over an entry for all verbs. The last entry has the
/// options that affect every run, or that limit it. Options that have no effect for other reasons
/// are refused by the parser (`--block` without `--pattern`), or later when more is known
/// (`--dictionary` by the content, `--param` by the trials).
const OPTION_NEEDS: &[OptionNeeds] = &[
    OptionNeeds { verbs: FLEET_VERBS, option_names: "http s3", needs: &[FLEET_READS_FILES] },
    OptionNeeds { verbs: FLEET_VERBS, option_names: "files_from", needs: &[FLEET_READS_ONE_FILE] },
    OptionNeeds { verbs: FLEET_VERBS, option_names: "pattern", needs: &[FLEET_READS_NO_PLACES] },
    OptionNeeds { verbs: FLEET_VERBS, option_names: "range ranges", needs: &[FLEET_SPLITS_FILES] },
    OptionNeeds { verbs: FLEET_VERBS, option_names: "readers", needs: &[FLEET_READS_TOGETHER] },
    OptionNeeds {
        verbs: FLEET_VERBS,
        option_names: "settings setting_commands apply read",
        needs: &[FLEET_HAS_HOST_SETTINGS],
    },
    OptionNeeds { verbs: FLEET_VERBS, option_names: "memory memory_shared", needs: &[FLEET_HAS_HOST_MEMORY] },
    OptionNeeds { verbs: FLEET_VERBS, option_names: "per_file", needs: &[NEEDS_TREE] },
    OptionNeeds { verbs: FLEET_VERBS, option_names: "dictionary", needs: &[FLEET_HAS_NO_DICTIONARY] },
    OptionNeeds { verbs: &["serve"], option_names: "s3", needs: &[] },
    OptionNeeds { verbs: &["sweep"], option_names: "order", needs: &[] },
    OptionNeeds { verbs: &["request"], option_names: "dictionary", needs: &[NEEDS_FILE] },
    // Its trial may be a command.
    OptionNeeds { verbs: &["request"], option_names: "commands_get_credentials", needs: &[NEEDS_SERVER] },
    OptionNeeds { verbs: &["limits"], option_names: "size", needs: &[NEEDS_PLACE_OF_FILE] },
    OptionNeeds { verbs: &["suite"], option_names: "percentiles", needs: &[] },
    OptionNeeds { verbs: &[], option_names: "allow_device http s3", needs: &[NEEDS_FILE] },
    OptionNeeds { verbs: &[], option_names: "follow", needs: &[NEEDS_FOLDER] },
    OptionNeeds { verbs: &[], option_names: "order", needs: &[NEEDS_TREE] },
    OptionNeeds { verbs: &[], option_names: "metadata", needs: &[NEEDS_TREE, NEEDS_COLD] },
    OptionNeeds { verbs: &[], option_names: "copies memory_shared", needs: &[NEEDS_SEVERAL_READERS] },
    OptionNeeds { verbs: &[], option_names: "apart same_content", needs: &[NEEDS_SEVERAL_TARGETS] },
    OptionNeeds {
        verbs: &[],
        option_names: "endpoint no_sign_request",
        needs: &[NEEDS_SERVER, NEEDS_OBJECT],
    },
    OptionNeeds { verbs: &[], option_names: "cacert", needs: &[NEEDS_SERVER, NEEDS_ENCRYPTION] },
    OptionNeeds {
        verbs: &[],
        option_names: "commands_get_credentials",
        needs: &[NEEDS_SERVER, NEEDS_COMMANDS],
    },
    OptionNeeds {
        verbs: &[],
        option_names: "check cleanup commands_decode parameter_list parameter_scan prepare setup success",
        needs: &[NEEDS_COMMANDS],
    },
    OptionNeeds { verbs: &[], option_names: "depth", needs: &[NEEDS_BLOCKS] },
    OptionNeeds {
        verbs: &[],
        option_names: "precision",
        needs: &[NEEDS_NO_EXACT_RUNS, NEEDS_EVERYDAY_SUITE],
    },
    OptionNeeds { verbs: &[], option_names: "indifference", needs: &[NEEDS_ONE_FASTEST] },
    OptionNeeds { verbs: &[], option_names: "percentiles", needs: &[NEEDS_TABLES] },
    OptionNeeds {
        verbs: &[],
        option_names: "all apply block budget claims color commands deadline dictionary dir drop_caches export_csv \
            export_json export_markdown file files_from fill fills flamegraph full hide_hosts hosts jobs json \
            keep languages max_bytes max_runs max_time memory merge methods min_runs names no_progress output \
            parameter_step_size params pattern per_file place primed quiet range ranges read read_only readers reads \
            reference repeat resume rosters runs save seed setting_commands settings share size sizes sorted space \
            state stats suite target targets trace trial warmup work write",
        needs: &[],
    },
];

/// Refuses an option that has no effect on the requested run.
pub fn check(given: &GivenOptions) -> anyhow::Result<()> {
    // A resumed run follows its record; the parser refuses options that would change it.
    if given.is_given("resume") {
        return Ok(());
    }
    let run = RequestedRun::parse(given);
    for arg in given.options() {
        let needs = needs_of_option(arg.get_id().as_str(), &given.verb).unwrap_or_default();
        if let Some(need) = needs.iter().find(|need| !(need.is_met)(&run)) {
            bail!("--{}{}", arg.get_long().unwrap_or_default(), need.message_end);
        }
    }
    Ok(())
}

/// The needs of an option of a verb; `None` if no entry lists the option.
fn needs_of_option(option: &str, verb: &str) -> Option<&'static [Need]> {
    let is_of_verb = |entry: &&OptionNeeds| entry.verbs.is_empty() || entry.verbs.contains(&verb);
    let mut entries = OPTION_NEEDS.iter().filter(is_of_verb);
    entries.find(|entry| entry.option_names.split(' ').any(|known| known == option)).map(|entry| entry.needs)
}

impl RequestedRun {
    fn parse(given: &GivenOptions) -> RequestedRun {
        let is_fleet = FLEET_VERBS.contains(&given.verb.as_str());
        let targets =
            ["targets", "target", "place"].map(|option| given.option_words(option)).into_iter().flatten();
        let mut run = RequestedRun {
            has_list: given.is_given("files_from"),
            has_commands: given.is_given("commands"),
            has_several_readers: given.option_words("readers").any(|count| count != "1"),
            reads_blocks: given.is_given("pattern") || given.is_given("ranges"),
            has_several_targets: given
                .option_words("targets")
                .chain(given.option_words("files_from"))
                .count()
                > 1,
            reads_cold: given.first_word("state") != Some("warm"),
            has_exact_runs: given.is_given("runs"),
            is_full_suite: given.is_given("full"),
            reads_trials_equally: given.is_given("runs") || given.is_given("min_runs"),
            prints_tables: !given.is_given("quiet") && !RequestedRun::exports_to_standard_output(given),
            ..RequestedRun::default()
        };
        for word in targets {
            match Path::new(word) {
                path if is_remote(path) => {
                    run.has_server = true;
                    run.has_object |= s3::is_object_name(word);
                    // A malformed URL is refused later, where it is requested.
                    let url = word.to_str().and_then(|word| word.parse::<Url>().ok());
                    run.has_https |= url.is_none_or(|url| url.is_encrypted());
                }
                path if path.is_dir() && !is_fleet => run.has_folder = true,
                _ => run.has_file = true,
            }
        }
        // A suite makes its own file and has its own commands; for --http and --s3, readlab serves
        // existing files.
        let is_suite = given.verb == "suite";
        run.has_file |= is_suite && !given.is_given("targets");
        run.has_commands |= given.first_word("suite").is_some_and(|suite| suite.ends_with(".toml"));
        run.has_server |= given.is_given("http") || given.is_given("s3");
        run
    }

    fn exports_to_standard_output(given: &GivenOptions) -> bool {
        let mut options = ["export_json", "export_csv", "export_markdown"].into_iter();
        options.any(|option| {
            let file = given.first_word(option).filter(|_| given.is_given(option));
            file.is_some_and(|file| is_standard_output(Path::new(file)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::Cli;
    use clap::CommandFactory;

    /// The verbs that measure, test or serve, and the one that prints what a contender receives.
    const VERBS: [&str; 11] = [
        "race",
        "suite",
        "sweep",
        "tune",
        "fleet race",
        "fleet scale",
        "limits",
        "doctor",
        "serve",
        "verify",
        "request",
    ];

    fn options(verb: &str) -> Vec<String> {
        let mut command = Cli::command();
        for word in verb.split(' ') {
            command = command.find_subcommand(word).unwrap().clone();
        }
        command.get_arguments().map(|arg| arg.get_id().to_string()).collect()
    }

    #[test]
    fn the_needs_of_every_option_are_listed() {
        for verb in VERBS {
            for option in options(verb) {
                assert!(
                    needs_of_option(&option, verb).is_some(),
                    "readlab {verb}: what does '{option}' need?"
                );
            }
        }
        let is_there = |option: &str, verb: &str| options(verb).iter().any(|known| known == option);
        for entry in OPTION_NEEDS {
            let verbs = if entry.verbs.is_empty() { &VERBS[..] } else { entry.verbs };
            for option in entry.option_names.split(' ') {
                assert!(verbs.iter().any(|verb| is_there(option, verb)), "{option}");
            }
        }
    }

    #[test]
    fn the_reference_names_every_option_that_a_fleet_refuses() {
        let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../REFERENCE.md");
        let reference = std::fs::read_to_string(reference).unwrap();
        let mut sections = reference.split("\n## ");
        let many_hosts = sections.find(|section| section.starts_with("Many hosts")).unwrap();
        let race = Cli::command().find_subcommand("race").unwrap().clone();
        for entry in OPTION_NEEDS.iter().filter(|entry| entry.verbs == FLEET_VERBS) {
            for option in entry.option_names.split(' ') {
                let arg = race.get_arguments().find(|arg| arg.get_id().as_str() == option).unwrap();
                let name = format!("`--{}`", arg.get_long().unwrap());
                assert!(many_hosts.contains(&name), "{name}");
            }
        }
    }

    /// The error message for these words, separated by spaces; `FOLDER` is replaced by a folder.
    fn error_for(words: &str) -> Option<String> {
        let command = Cli::command();
        let folder = tempfile::tempdir().unwrap();
        let words = words.replace("FOLDER", folder.path().to_str().unwrap());
        let matches = command.clone().try_get_matches_from(words.split(' ')).unwrap();
        check(&GivenOptions::parse(&command, &matches)).err().map(|error| error.to_string())
    }

    #[test]
    fn an_option_that_has_no_effect_is_refused_with_what_it_needs() {
        for (words, why) in [
            ("race s3://b/k --s3", "--s3 needs a file of this machine"),
            ("race https://h/f --http", "--http needs a file of this machine"),
            ("race FOLDER --allow-device", "--allow-device needs a file of this machine"),
            ("race f --endpoint http://h", "--endpoint is about servers"),
            ("race --s3 f --endpoint http://h", "--endpoint is about S3 stores of others"),
            ("race --http f --no-sign-request", "--no-sign-request is about S3 stores of others"),
            ("race https://h/f --endpoint http://h", "--endpoint is about S3 stores of others"),
            ("race --http f --cacert ca.pem", "--cacert is about servers that encrypt"),
            ("race http://h/f --cacert ca.pem", "--cacert is about servers that encrypt"),
            ("race s3://b/k --commands-get-credentials", "--commands-get-credentials is about commands"),
            ("tune s3://b/k --commands-get-credentials", "--commands-get-credentials is about commands"),
            ("suite newlines f --endpoint http://h", "--endpoint is about servers"),
            (
                "suite newlines s3://b/k --commands-get-credentials",
                "--commands-get-credentials is about commands",
            ),
            ("limits f --size 1MiB", "--size is about the file that is made in a folder"),
            ("limits s3://b/k --size 1MiB", "--size is about the file that is made in a folder"),
            ("race f --readers 1 --copies .", "--copies is about the readers beside the first"),
            ("race f --depth 8", "--depth is about blocks of a file"),
            ("race f --apart", "--apart is about several targets, and there is one"),
            ("race --files-from l --same-content", "--same-content is about several targets"),
            ("race f --order name", "--order is about the files of a folder"),
            ("race --files-from l --follow", "--follow is about what is below a folder"),
            ("race FOLDER --state warm --metadata cold", "--metadata is about cold readings"),
            ("race f --runs 3 --precision 2%", "--precision is about when a trial may stop"),
            ("suite newlines --full --precision 2%", "--precision is about when a trial may stop"),
            ("race f --min-runs 3 --indifference 5%", "--indifference is about which trials stop first"),
            ("race f --check none", "--check is about commands, and there is none: -c"),
            ("race f --success 0,1", "--success is about commands, and there is none: -c"),
            ("race f --prepare true", "--prepare is about commands, and there is none: -c"),
            ("race f --quiet --percentiles", "--percentiles is about tables"),
            ("request rust/http http://h/f --dictionary d", "--dictionary needs a file of this machine"),
            ("request rust/read f --endpoint http://h", "--endpoint is about servers"),
            ("fleet race f --http", "--http: a fleet reads files"),
            ("fleet race f --range 0:1MiB", "--range: the ranks of a fleet read whole files"),
            ("fleet race f --files-from l", "--files-from: a fleet reads one file"),
            ("fleet scale f --dictionary d", "--dictionary: the ranks of a fleet"),
            ("fleet race f --setting scheduler", "--setting: the ranks of a fleet"),
            ("fleet race FOLDER --per-file", "--per-file is about the files of a folder"),
        ] {
            let said = error_for(&format!("readlab {words}"));
            assert!(said.as_ref().is_some_and(|said| said.starts_with(why)), "{words}: {said:?}");
        }
    }

    #[test]
    fn an_option_that_has_an_effect_is_accepted() {
        for words in [
            "race s3://b/k --endpoint http://h --no-sign-request --cacert ca.pem",
            "race https://h/f --cacert ca.pem",
            "race f --s3 -c wc --commands-get-credentials",
            "race f https://h/f --http",
            "race FOLDER --order name --follow --metadata cold",
            "race --files-from l --order name",
            "race f --ranges l --depth 8",
            "race f --pattern random --depth 8",
            "race f --readers 1,2 --copies .",
            "race f g --apart",
            "race f --files-from l --same-content",
            "race f --state cold --drop-caches --runs 3 --fills 1",
            "race f --state warm --drop-caches",
            "suite mine.toml s3://b/k --commands-get-credentials",
            "suite newlines --percentiles --quiet --allow-device",
            "suite newlines --full --fills 2",
            "request rust/zstd f.zst --dictionary d",
            "request command/curl s3://b/k --commands-get-credentials",
            "race --resume last --all --percentiles",
            "limits --size 1MiB",
            "sweep FOLDER --order shuffled",
            "serve f --s3",
        ] {
            assert_eq!(error_for(&format!("readlab {words}")), None, "{words}");
        }
    }
}
