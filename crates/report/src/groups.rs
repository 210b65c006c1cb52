//! Groups of things. Groups and their members keep the order of first appearance.

/// The members of each group, with the key that they share.
pub(super) fn by_key<K: PartialEq, T>(things: impl IntoIterator<Item = (K, T)>) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for (key, thing) in things {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(thing),
            None => groups.push((key, vec![thing])),
        }
    }
    groups
}

/// The first member of each group.
pub(super) fn firsts<K: PartialEq, T>(things: impl IntoIterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut firsts: Vec<T> = Vec::new();
    for thing in things {
        if !firsts.iter().any(|first| key(first) == key(&thing)) {
            firsts.push(thing);
        }
    }
    firsts
}
