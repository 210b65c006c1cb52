//! Snippets: code that reads a file as a method does, in the language of its contender, and what
//! the method needs of a program, such as unsafe code or a library.
//!
//! They are files, `contenders/NAME/snippets/METHOD.*`, and for the ways of visiting bytes
//! `snippets/scan/SCAN.*`, which the program carries. The first lines may say `// needs: …; …` and
//! `// usual: yes`; a line that ends in `// = NAME` holds the value of that parameter, which is
//! filled in; where comments begin with `#`, so do these. Nothing here knows a method by name.

use readlab_model::trial::{MethodId, Params};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// Contender, `method` or `scan/NAME`, ending, text.
type Carried = (&'static str, &'static str, &'static str, &'static str);

/// Every snippet; written by the build script.
const CARRIED: &[Carried] = include!(concat!(env!("OUT_DIR"), "/snippets.rs"));

/// What begins a comment.
const COMMENTS: [&str; 2] = ["//", "#"];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Snippet {
    /// The ending of its file, which names its language: `rs`, `java`, `swift`.
    pub language: &'static str,
    pub code: String,
}

/// What code needs that the compiler does not check.
const UNSAFE: &str = "unsafe code";

/// How much code there is, and how much of it the compiler does not check: the less, the simpler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CodeExtent {
    /// The method and its scan, as far as they need unsafe code.
    pub unsafe_parts: usize,
    /// Lines, those that are blank or comments left out.
    pub lines: usize,
}

/// What comes before the lines of a snippet that are shown.
struct SnippetHead {
    needs: BTreeSet<&'static str>,
    usual: bool,
    code: &'static str,
}

/// Whether a method needs nothing beyond its language.
pub fn is_easy(method: &MethodId) -> bool {
    needs(method).is_some_and(|needs| needs.is_empty())
}

/// What a method with its scan needs of a program; `None` without a snippet.
pub fn needs(method: &MethodId) -> Option<BTreeSet<&'static str>> {
    Some(heads(method)?.into_iter().flat_map(|head| head.needs).collect())
}

/// The extent of the code of a method with its scan; `None` without a snippet.
pub fn extent(method: &MethodId) -> Option<CodeExtent> {
    let heads = heads(method)?;
    let is_code = |line: &str| !line.is_empty() && !COMMENTS.iter().any(|mark| line.starts_with(mark));
    let lines = heads.iter().flat_map(|head| head.code.lines());
    Some(CodeExtent {
        unsafe_parts: heads.iter().filter(|head| head.needs.contains(UNSAFE)).count(),
        lines: lines.filter(|line| is_code(line.trim_start())).count(),
    })
}

/// The snippet of a method, and that of its scan where there is one; `None` without the first.
fn heads(method: &MethodId) -> Option<Vec<SnippetHead>> {
    let scan = method.scan.as_ref().and_then(|scan| find(&method.contender, &format!("scan/{scan}")));
    let of_method = find(&method.contender, &method.method)?;
    Some([Some(of_method), scan].into_iter().flatten().map(|found| head(found.3)).collect())
}

/// Whether it is what programs usually do.
pub fn is_usual(method: &MethodId) -> bool {
    find(&method.contender, &method.method).is_some_and(|found| head(found.3).usual)
}

/// The code of a method with these settings, and that of its scan where there is one; empty where
/// none is carried.
pub fn code(method: &MethodId, params: &Params) -> Vec<Snippet> {
    let scan = method.scan.as_ref().map(|scan| format!("scan/{scan}"));
    let found = [Some(method.method.clone()), scan].into_iter().flatten();
    let found = found.filter_map(|name| find(&method.contender, &name));
    found.map(|(_, _, language, text)| Snippet { language, code: filled(head(text).code, params) }).collect()
}

fn find(contender: &str, name: &str) -> Option<&'static Carried> {
    CARRIED.iter().find(|(whose, what, ..)| *whose == contender && *what == name)
}

/// Takes the lines at the head apart from the code.
fn head(text: &'static str) -> SnippetHead {
    let mut head = SnippetHead { needs: BTreeSet::new(), usual: false, code: text };
    while let Some((line, rest)) = head.code.split_once('\n') {
        let comment = COMMENTS.iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or_default();
        if let Some(needs) = comment.strip_prefix(" needs: ") {
            head.needs.extend(needs.split(';').map(str::trim));
        } else if comment == " usual: yes" {
            head.usual = true;
        } else {
            break;
        }
        head.code = rest.trim_start_matches('\n');
    }
    head
}

/// The code with the values of these parameters: on a line that ends in `// = NAME`, what stands
/// behind its equals sign.
fn filled(code: &str, params: &Params) -> String {
    let lines = code.lines().map(|line| {
        let mark = |mark: &&str| line.split_once(&format!("{mark} = "));
        let Some((statement, name)) = COMMENTS.iter().find_map(mark) else { return line.to_owned() };
        let statement = statement.trim_end();
        let parts = statement.rsplit_once("= ").zip(params.0.get(name.trim()));
        parts.map_or_else(|| statement.to_owned(), |((before, old), &value)| assigned(before, old, value))
    });
    lines.map(|line| line + "\n").collect()
}

/// `before = value`, in the form that the old value had: a switch, or a number, and perhaps a
/// semicolon.
fn assigned(before: &str, old: &str, value: u64) -> String {
    let (old, end) = old.strip_suffix(';').map_or((old, ""), |old| (old, ";"));
    let value = if ["true", "false"].contains(&old) { (value != 0).to_string() } else { value.to_string() };
    format!("{before}= {value}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_model::trial::TrialId;

    fn id(name: &str) -> TrialId {
        name.parse().unwrap()
    }

    #[test]
    fn every_snippet_says_what_it_is_and_marks_only_parameters_with_units() {
        assert!(CARRIED.len() > 20, "{}", CARRIED.len());
        for (contender, name, language, text) in CARRIED {
            let head = head(text);
            assert!(head.code.len() > 80 && head.code.ends_with('\n'), "{contender}/{name}");
            let languages = ["rs", "c", "cpp", "cs", "go", "java", "js", "kt", "mjs", "py", "swift"];
            assert!(languages.contains(language), "{contender}/{name}");
            let code = filled(head.code, &Params::default());
            assert!(!code.contains("// = ") && !code.contains("# = "), "{contender}/{name}");
        }
    }

    #[test]
    fn what_a_method_and_its_scan_need_is_put_together() {
        assert_eq!(needs(&id("rust/buffered/iterator").method), Some(BTreeSet::new()));
        let mapped = needs(&id("rust/mmap/avx2").method).unwrap();
        assert!(mapped.contains("unsafe code") && mapped.contains("the crate memmap2"), "{mapped:?}");
        assert!(needs(&id("rust/read/memchr").method).unwrap().contains("the crate memchr"));
        assert_eq!(needs(&id("foreign/read").method), None);
        let extent = |name: &str| super::extent(&id(name).method).unwrap();
        assert_eq!(extent("rust/auto-safe").unsafe_parts, 0);
        assert!(extent("rust/auto-safe/avx2") < extent("rust/auto/avx2"));
        assert!(extent("rust/auto/memchr") < extent("rust/io_uring/memchr"), "short where both are unsafe");
        assert_eq!(super::extent(&id("foreign/read").method), None);
        assert!(is_usual(&id("rust/lines").method) && !is_usual(&id("rust/mmap").method));
    }

    #[test]
    fn settings_are_filled_in_and_marks_are_gone() {
        let code = |name: &str| {
            let id = id(name);
            super::code(&id.method, &id.params).remove(0).code
        };
        assert!(code("rust/read/iterator@buffer=12345B").contains("usize = 12345;\n"));
        assert!(code("python/read@buffer=12345B").starts_with("BUFFER_BYTES = 12345\n"));
        assert!(code("go/os.File.Read@buffer=12345B").contains("const bufferBytes = 12345\n"));
        let mapped = code("rust/mmap/iterator@threads=3,populate=1");
        assert!(mapped.contains("= 3;\n") && mapped.contains("= true;\n"), "{mapped}");
        assert!(!mapped.contains("// ="), "{mapped}");
        assert!(super::code(&id("foreign/read").method, &Params::default()).is_empty());
    }
}
