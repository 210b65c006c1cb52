//! Tests of the corpus: files are made once, checked, listed, and removed.

use super::*;
use readlab_model::corpus::CorpusKind;

const RECIPE: Recipe = Recipe { kind: CorpusKind::Lines, size_bytes: 100_000, seed: 1 };

#[test]
fn a_corpus_file_is_made_once_and_a_changed_one_is_neither_used_nor_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let made = make_file(folder.path(), RECIPE, || Ok(())).unwrap();
    assert!(!made.was_reused);
    assert_eq!(oracle::truth_of_file(&made.path).unwrap().digest, made.digest);
    let again = make_file(folder.path(), RECIPE, || Ok(())).unwrap();
    assert_eq!(again, Corpus { was_reused: true, ..made.clone() });

    let mut changed = fs::read(&made.path).unwrap();
    changed[50_000] ^= 1;
    fs::write(&made.path, &changed).unwrap();
    assert!(
        matches!(make_file(folder.path(), RECIPE, || Ok(())), Err(CorpusError::NotOurs(path)) if path == made.path)
    );
    assert_eq!(fs::read(&made.path).unwrap(), changed);
}

#[test]
fn cleaning_removes_only_files_that_readlab_made() {
    let folder = tempfile::tempdir().unwrap();
    let made = make_file(folder.path(), RECIPE, || Ok(())).unwrap();
    make_file(folder.path(), Recipe { kind: CorpusKind::A, ..RECIPE }, || Ok(())).unwrap();
    let mine = folder.path().join("lines-1000-seed1.txt");
    fs::write(&mine, "mine").unwrap();
    fs::write(folder.path().join("other.readlab.json"), "{}").unwrap();
    let abandoned = folder.path().join(".readlab-x.part");
    fs::write(&abandoned, "").unwrap();
    let written = create_part_file(folder.path()).unwrap();

    let listed: Vec<PathBuf> =
        list_files(folder.path()).unwrap().into_iter().map(|corpus| corpus.path).collect();
    assert_eq!(listed, [folder.path().join("a-100000.bin"), made.path.clone()]);
    let removed = clean(folder.path()).unwrap().removed;
    assert_eq!(removed.len(), 5, "{removed:?}");
    assert!(removed.contains(&abandoned) && !made.path.exists());
    let left = names_in(folder.path()).unwrap();
    assert!(mine.exists() && written.path().exists() && left.len() == 3, "{left:?}");
}

#[test]
fn only_a_folder_that_readlab_created_is_removed_with_its_last_file() {
    let parent = tempfile::tempdir().unwrap();
    let (own, mine) = (parent.path().join("own"), parent.path().join("mine"));
    fs::create_dir(&mine).unwrap();
    for folder in [&own, &mine] {
        make_file(folder, RECIPE, || Ok(())).unwrap();
        clean(folder).unwrap();
    }
    assert!(!own.exists() && mine.exists());
    make_file(&own, RECIPE, || Ok(())).unwrap();
    fs::write(own.join("a note of mine"), "x").unwrap();
    clean(&own).unwrap();
    assert_eq!(names_in(&own).unwrap(), ["a note of mine"]);
}

#[test]
fn every_archive_form_is_made_once_listed_with_its_size_and_cleaned() {
    let folder = tempfile::tempdir().unwrap();
    let forms: Vec<FileForm> = [None].into_iter().chain(Archive::ALL.map(Some)).collect();
    let made = make_forms(folder.path(), RECIPE, &forms).unwrap();
    assert!(made.iter().all(|(_, corpus)| !corpus.was_reused));
    let again = make_forms(folder.path(), RECIPE, &forms).unwrap();
    assert!(again.iter().all(|(_, corpus)| corpus.was_reused));
    let listed = list_files(folder.path()).unwrap();
    assert_eq!(listed.len(), forms.len());
    for corpus in listed.iter().chain(made.iter().map(|(_, corpus)| corpus)) {
        assert_eq!(corpus.size_bytes, corpus.path.metadata().unwrap().len(), "{corpus:?}");
    }
    assert_eq!(clean(folder.path()).unwrap().removed.len(), 2 * forms.len());
}

#[test]
fn a_file_that_readlab_did_not_make_is_left_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(RECIPE.file_name());
    fs::write(&path, "mine").unwrap();
    assert!(matches!(make_file(folder.path(), RECIPE, || Ok(())), Err(CorpusError::NotOurs(_))));
    assert_eq!(fs::read(&path).unwrap(), b"mine");
    fs::remove_file(&path).unwrap();
    let note = note_path(&path);
    for mine in ["mine", "{}"] {
        fs::write(&note, mine).unwrap();
        assert!(
            matches!(make_file(folder.path(), RECIPE, || Ok(())), Err(CorpusError::NotOurs(path)) if path == note)
        );
        assert_eq!((fs::read_to_string(&note).unwrap().as_str(), path.exists()), (mine, false));
    }
    // The note of a file that was removed is an earlier note.
    fs::remove_file(&note).unwrap();
    fs::remove_file(make_file(folder.path(), RECIPE, || Ok(())).unwrap().path).unwrap();
    assert!(!make_file(folder.path(), RECIPE, || Ok(())).unwrap().was_reused);
}

#[test]
fn a_file_that_does_not_fit_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let huge = Recipe { size_bytes: 1 << 62, ..RECIPE };
    let error = make_file(folder.path(), huge, || Ok(())).unwrap_err();
    assert!(matches!(error, CorpusError::NoSpace { .. }), "{error}");
    assert_eq!(names_in(folder.path()).unwrap(), Vec::<String>::new());
}

#[test]
fn a_file_whose_writing_is_given_up_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let three_pieces = Recipe { size_bytes: 3 << 20, ..RECIPE };
    let mut checks = 0;
    let check = || {
        checks += 1;
        if checks < 3 { Ok(()) } else { Err(io::Error::other("no time is left")) }
    };
    let error = make_file(folder.path(), three_pieces, check).unwrap_err();
    assert!(error.to_string().ends_with("no time is left"), "{error}");
    assert_eq!((checks, names_in(folder.path()).unwrap()), (3, Vec::new()));
}

#[test]
fn a_missing_corpus_folder_has_no_files() {
    let folder = tempfile::tempdir().unwrap().path().join("none");
    assert_eq!(list_files(&folder).unwrap(), []);
    assert_eq!(clean(&folder).unwrap(), CleanReport::default());
}
