//! `readlab list`: contenders with their receipts, their methods with scans and parameters, and why
//! some are not available.

use clap::Args;
use readlab_catalog::roster::Roster;
use readlab_model::trial::{Params, Work};
use readlab_protocol::{MethodLine, Reads};
use readlab_roster::discovery::Contenders;
use readlab_roster::methods::Contender;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct ListArgs {
    /// A roster file with more contenders; may be repeated
    #[arg(long = "roster", value_name = "FILE")]
    pub rosters: Vec<PathBuf>,
    /// Only methods that can do this work
    #[arg(long, value_name = "WORK")]
    pub work: Option<Work>,
}

pub fn run(args: &ListArgs) -> anyhow::Result<ExitCode> {
    let roster = Roster::with_user_rosters(&args.rosters)?;
    let contenders = Contenders::discover(&roster, |_| true);
    let mut text = String::new();
    for entry in &roster.entries {
        match (contenders.contender(&entry.name), contenders.absent().get(&entry.name)) {
            (Some(contender), _) => describe_contender(&mut text, contender, &entry.about, args.work),
            (None, reason) => {
                let reason = reason.map_or("no receipt", String::as_str);
                let _ = writeln!(text, "{} · {}\n  unavailable: {reason}\n", entry.name, entry.about);
            }
        }
    }
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn describe_contender(text: &mut String, contender: &Contender, about: &str, work: Option<Work>) {
    let receipt = &contender.receipt;
    let _ = writeln!(text, "{} {} · {about}\n  {}", receipt.contender, receipt.version, receipt.runtime);
    for method in contender.methods.iter().filter(|m| work.is_none_or(|w| m.scans.contains_key(w.word()))) {
        let _ = writeln!(text, "\n  {}/{}\n      {}", receipt.contender, method.method, method.about);
        if !method.decodes.is_empty() {
            let archives: Vec<&str> = method.decodes.iter().map(|archive| archive.noun()).collect();
            let with = if method.dictionary { ", of a zstd with a dictionary, too" } else { "" };
            let _ = writeln!(text, "      reads what comes out of {}{with}", archives.join(" or "));
        }
        if let Some(reason) = &method.unavailable {
            let _ = writeln!(text, "      unavailable: {reason}");
        }
        for (work, scans) in &method.scans {
            let _ = writeln!(
                text,
                "      {work:<9} {}",
                if scans == &["-"] { "yes".into() } else { scans.join(", ") }
            );
        }
        if method.reads != Reads::File {
            let what = match method.reads {
                Reads::Url if method.ranges => "ranges of URLs (--ranges)",
                Reads::Object if method.ranges => "ranges of objects of S3 stores (--ranges)",
                Reads::File => "files",
                Reads::Url => "URLs",
                Reads::Both => "files and URLs",
                Reads::Object => "objects of S3 stores",
                Reads::List => "files of a list",
                Reads::Folder => "files of a folder",
                Reads::Places => "places of a file (--pattern, --ranges)",
            };
            let _ = writeln!(text, "      reads     {what}");
        }
        if !method.params.is_empty() {
            let _ = writeln!(text, "      settings  {}", settings_text(method));
        }
    }
    text.push('\n');
}

/// Every parameter with its default and range, in the syntax of the command line.
fn settings_text(method: &MethodLine) -> String {
    let spell = |name: &str, value: u64| Params(BTreeMap::from([(name.to_owned(), value)])).to_string();
    let one = |param: &readlab_protocol::ParamLine| {
        let end =
            |value| spell(&param.name, value).split_once('=').map(|(_, v)| v.to_owned()).unwrap_or_default();
        format!("{} ({}..{})", spell(&param.name, param.default), end(param.min), end(param.max))
    };
    method.params.iter().map(one).collect::<Vec<_>>().join(", ")
}
