//! Names cut to the room that a chart has, so that no two rows of it look the same.

use std::collections::BTreeSet;

/// A name with the number of letters for which there is room.
#[derive(Debug, Clone, Copy)]
pub(super) struct NameRoom<'a> {
    pub(super) name: &'a str,
    pub(super) letters: usize,
}

/// Fewer letters than this say nothing.
const LETTERS_MIN: usize = 8;

/// The names as they are shown, in their order. A name that fits is whole. Others are cut at the
/// end, or where that makes two of them equal, in the middle or at the start.
pub(super) fn clipped(names: &[NameRoom]) -> Vec<String> {
    let at_end: Vec<String> = names.iter().map(|it| cut(it, it.letters)).collect();
    let is_unique = |text: &String| at_end.iter().filter(|other| *other == text).count() == 1;
    let unique = at_end.iter().filter(|text| is_unique(text));
    let mut taken: BTreeSet<String> = unique.cloned().collect();
    let mut shown = Vec::new();
    for (text, it) in at_end.iter().zip(names) {
        if is_unique(text) {
            shown.push(text.clone());
            continue;
        }
        let text = candidates(it).into_iter().find(|candidate| !taken.contains(candidate));
        // Names that differ nowhere that a cut could show are left whole.
        let text = text.unwrap_or_else(|| it.name.to_owned());
        taken.insert(text.clone());
        shown.push(text);
    }
    shown
}

/// Ways to cut a name, each keeping fewer letters of its start and more of its end.
fn candidates(it: &NameRoom) -> Vec<String> {
    let letters = it.letters.max(LETTERS_MIN);
    [letters / 2, letters / 3, letters / 5, 1].map(|kept| cut(it, kept)).to_vec()
}

/// A name with so many letters of its start, and as many of its end as there is room for.
fn cut(it: &NameRoom, start: usize) -> String {
    let letters: Vec<char> = it.name.chars().collect();
    let room = it.letters.max(LETTERS_MIN);
    if letters.len() <= room {
        return it.name.to_owned();
    }
    let start = start.min(room - 1);
    let end = room - 1 - start;
    let (first, last) = (&letters[..start], &letters[letters.len() - end..]);
    first.iter().chain(&['…']).chain(last).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(names: &[&str], letters: usize) -> Vec<String> {
        let names: Vec<NameRoom> = names.iter().map(|name| NameRoom { name, letters }).collect();
        clipped(&names)
    }

    #[test]
    fn names_are_cut_where_they_do_not_differ() {
        assert_eq!(shown(&["mmap avx2", "read avx2 · buffer=64KiB"], 14), ["mmap avx2", "read avx2 · b…"]);
        let names = ["dataTask(with:) and a loop", "dataTask(with:) and forEach"];
        assert_eq!(shown(&names, 16), ["dataTask… a loop", "dataTask…forEach"]);
    }

    proptest! {
        #[test]
        fn no_two_names_look_the_same(
            names in prop::collection::btree_set("[ab]{0,6}x{0,20}[ab]{0,6}", 1..12),
            letters in 0_usize..24,
        ) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let shown = shown(&names, letters);
            let set: BTreeSet<&String> = shown.iter().collect();
            prop_assert_eq!(set.len(), names.len(), "{:?}", shown);
        }
    }
}
