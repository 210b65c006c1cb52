//! A test of cold dentries and inodes, which drops the caches of the whole machine. It is a
//! separate program, which `cargo test` runs only by name, so that it never runs beside another
//! test.

use readlab_measure::cache::Eviction;
use readlab_measure::target::CacheControl;
use readlab_system::names::is_cached;
use readlab_targets::target::Target;
use readlab_targets::target::tree::{ListSource, TreeRequest};
use std::fs;
use std::path::PathBuf;

#[test]
fn dentries_and_inodes_are_cold_after_pages_were_made_cold() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("SKIPPED: only root may drop the caches of the machine");
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let paths: Vec<PathBuf> = (0..300).map(|index| folder.path().join(format!("file {index}"))).collect();
    for path in &paths {
        fs::write(path, "content\n").unwrap();
    }
    let source = ListSource::Folder(folder.path().to_owned());
    let target = Target::examine_tree(&TreeRequest::by_name(source)).unwrap();
    let cached = || paths.iter().filter(|path| is_cached(path).unwrap()).count();
    assert_eq!(cached(), 300, "who looks at a file brings its name into memory");
    let pages_alone = CacheControl::open(&target, Eviction::OfFile).unwrap();
    pages_alone.evict().unwrap();
    assert_eq!(cached(), 300, "pages are evicted without names");
    let with_names = CacheControl::open(&target, Eviction::OfSystem).unwrap();
    if let Err(why) = with_names.evict() {
        return eprintln!("SKIPPED: {why}");
    }
    assert_eq!(cached(), 0, "none is found without leaving memory");
    assert_eq!(with_names.cache().unwrap().residency().unwrap().resident, 0);
}
