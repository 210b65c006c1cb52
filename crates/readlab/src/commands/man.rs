//! `readlab man`: the manual page on standard output, with a section for each verb.

use crate::commands::Cli;
use clap::CommandFactory;
use clap_mangen::Man;
use std::io::Write;
use std::process::ExitCode;

pub fn run() -> anyhow::Result<ExitCode> {
    let mut page = Vec::new();
    let cli = Cli::command();
    Man::new(cli.clone()).render(&mut page)?;
    for verb in cli.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        writeln!(page, ".SH \"READLAB {}\"", verb.get_name().to_uppercase())?;
        let man = Man::new(verb.clone().bin_name(format!("readlab {}", verb.get_name())));
        man.render_synopsis_section(&mut page)?;
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
    }
    std::io::stdout().write_all(&page)?;
    Ok(ExitCode::SUCCESS)
}
