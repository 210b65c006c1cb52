//! `readlab corpus make|tree|list|clean`: deterministic test files.

use clap::{Args, Subcommand};
use readlab_corpus::trees::{self, TreeKind, TreeRecipe};
use readlab_corpus::{CleanReport, Corpus};
use readlab_model::corpus::{CorpusKind, Recipe};
use readlab_model::units::Bytes;
use readlab_protocol::Archive;
use readlab_system::terminal::printable::display_path;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct CorpusArgs {
    #[command(subcommand)]
    pub action: CorpusAction,
    /// Folder of the test files [default: one in the user's cache folder]
    #[arg(long, value_name = "DIR", global = true)]
    pub folder: Option<PathBuf>,
}

/// Actions on test files.
#[derive(Debug, Subcommand)]
pub enum CorpusAction {
    /// Make a file unless it exists and is intact; print its path
    Make {
        /// Kind of content
        kind: CorpusKind,
        /// Size, for example 256MiB
        #[arg(default_value = "256MiB")]
        size: Bytes,
        /// Seed of the content
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Put it into an archive or compress it: zip, gzip, zstd, lz4, xz, bzip2, snappy or brotli
        #[arg(long = "in", value_name = "ARCHIVE")]
        archive: Option<Archive>,
    },
    /// Make a folder with many files unless it exists and is intact; print its path
    Tree {
        /// Kind of its files
        kind: TreeKind,
        /// Number of files
        #[arg(default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..=trees::FILES_MAX))]
        files: u64,
        /// Seed of sizes and content
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// List the test files
    List,
    /// Remove the test files
    Clean,
}

pub fn run(args: &CorpusArgs) -> anyhow::Result<ExitCode> {
    let folder = args.folder.clone().map_or_else(readlab_corpus::default_folder, Ok)?;
    let mut out = std::io::stdout();
    match args.action {
        CorpusAction::Make { kind, size, seed, archive } => {
            let recipe = Recipe { kind, size_bytes: size.0, seed };
            for (_, made) in readlab_corpus::make_forms(&folder, recipe, &[archive])? {
                writeln!(out, "{}", made.path.display())?;
            }
        }
        CorpusAction::Tree { kind, files, seed } => {
            let made = trees::make(&folder, TreeRecipe { kind, file_count: files, seed })?;
            writeln!(out, "{}", made.path.display())?;
        }
        CorpusAction::List => {
            for tree in trees::list(&folder)? {
                writeln!(out, "{tree}")?;
            }
            for Corpus { path, size_bytes, digest, .. } in readlab_corpus::list_files(&folder)? {
                writeln!(out, "{}  {}  {digest}", path.display(), Bytes(size_bytes))?;
            }
        }
        CorpusAction::Clean => {
            let CleanReport { removed, kept } = readlab_corpus::clean(&folder)?;
            for path in removed {
                writeln!(out, "removed {}", path.display())?;
            }
            for path in kept {
                writeln!(out, "kept {}: readlab did not make it, or it was changed", display_path(&path))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
