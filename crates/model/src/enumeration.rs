//! Lists in sentences.

/// Things as a list in a sentence, such as `a, b or c`; empty without things.
pub fn enumeration(things: &[impl AsRef<str>], conjunction: &str) -> String {
    let things: Vec<&str> = things.iter().map(AsRef::as_ref).collect();
    match things.split_last() {
        None => String::new(),
        Some((only, [])) => (*only).to_owned(),
        Some((last, others)) => format!("{} {conjunction} {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_thing_follows_the_conjunction() {
        assert_eq!(enumeration(&[] as &[&str], "or"), "");
        assert_eq!(enumeration(&["a"], "or"), "a");
        assert_eq!(enumeration(&["a", "b"], "or"), "a or b");
        assert_eq!(enumeration(&["a".to_owned(), "b".to_owned(), "c".to_owned()], "and"), "a, b and c");
    }
}
