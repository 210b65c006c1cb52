//! Snippets: code that reads a file in the same way as a method, in the language of its contender,
//! and what the method needs of a program, such as unsafe code or a library.
//!
//! Snippets are files that are embedded in the program: `contenders/NAME/snippets/METHOD.*`, and
//! for scans `snippets/scan/SCAN.*`. The first lines may contain `// needs: …; …` and `// usual:
//! yes`. A line that ends in `// = NAME` holds the value of that parameter, which is filled in. In
//! languages whose comments begin with `#`, these marks begin with `#` too. This module does not
//! know any method by name.

use readlab_model::trial::{MethodId, Params};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// Name of the contender, name of the method or `scan/NAME`, file extension, and text.
type EmbeddedSnippet = (&'static str, &'static str, &'static str, &'static str);

/// All snippets; the build script writes this list.
const EMBEDDED: &[EmbeddedSnippet] = include!(concat!(env!("OUT_DIR"), "/snippets.rs"));

/// The characters that begin a comment.
const COMMENT_MARKS: [&str; 2] = ["//", "#"];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Snippet {
    /// The file extension, which identifies the language: `rs`, `java`, `swift`.
    #[serde(rename = "language")]
    pub file_extension: &'static str,
    pub code: String,
}

/// The entry among the needs of a snippet for code whose safety the compiler does not check.
const UNSAFE_NEED: &str = "unsafe code";

/// The extent of code. Extents are ordered by the number of unsafe parts and then by the number of
/// lines, so that the smaller extent is that of simpler code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CodeExtent {
    /// Number of parts (method, scan) that need unsafe code.
    pub unsafe_part_count: usize,
    /// Number of lines, without blank lines and comments.
    pub line_count: usize,
}

/// The information in the first lines of a snippet, and the code that is shown.
struct SnippetHead {
    needs: BTreeSet<&'static str>,
    is_usual: bool,
    code: &'static str,
}

/// True if a method needs nothing besides its language.
pub fn needs_only_language(method: &MethodId) -> bool {
    method_needs(method).is_some_and(|needs| needs.is_empty())
}

/// What a method with its scan needs of a program; `None` without a snippet.
pub fn method_needs(method: &MethodId) -> Option<BTreeSet<&'static str>> {
    Some(snippet_heads(method)?.into_iter().flat_map(|head| head.needs).collect())
}

/// The extent of the code of a method with its scan; `None` without a snippet.
pub fn code_extent(method: &MethodId) -> Option<CodeExtent> {
    let heads = snippet_heads(method)?;
    let is_code = |line: &str| !line.is_empty() && !COMMENT_MARKS.iter().any(|mark| line.starts_with(mark));
    let lines = heads.iter().flat_map(|head| head.code.lines());
    Some(CodeExtent {
        unsafe_part_count: heads.iter().filter(|head| head.needs.contains(UNSAFE_NEED)).count(),
        line_count: lines.filter(|line| is_code(line.trim_start())).count(),
    })
}

/// The snippet of the method and, if there is one, of its scan; `None` if the method has no
/// snippet.
fn snippet_heads(method: &MethodId) -> Option<Vec<SnippetHead>> {
    let scan =
        method.scan.as_ref().and_then(|scan| find_embedded(&method.contender, &format!("scan/{scan}")));
    let of_method = find_embedded(&method.contender, &method.method)?;
    Some([Some(of_method), scan].into_iter().flatten().map(|found| parse_head(found.3)).collect())
}

/// True if this is the usual method of its language.
pub fn is_usual(method: &MethodId) -> bool {
    find_embedded(&method.contender, &method.method).is_some_and(|found| parse_head(found.3).is_usual)
}

/// The snippets of a method and, if there is one, of its scan, with the values of these parameters;
/// empty if no snippet is embedded.
pub fn snippets_of_method(method: &MethodId, params: &Params) -> Vec<Snippet> {
    let scan = method.scan.as_ref().map(|scan| format!("scan/{scan}"));
    let found = [Some(method.method.clone()), scan].into_iter().flatten();
    let found = found.filter_map(|name| find_embedded(&method.contender, &name));
    found
        .map(|(_, _, language, text)| Snippet {
            file_extension: language,
            code: fill_placeholders(parse_head(text).code, params),
        })
        .collect()
}

fn find_embedded(contender: &str, name: &str) -> Option<&'static EmbeddedSnippet> {
    EMBEDDED.iter().find(|(whose, what, ..)| *whose == contender && *what == name)
}

/// Separates the information in the first lines from the code.
fn parse_head(text: &'static str) -> SnippetHead {
    let mut head = SnippetHead { needs: BTreeSet::new(), is_usual: false, code: text };
    while let Some((line, rest)) = head.code.split_once('\n') {
        let comment = COMMENT_MARKS.iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or_default();
        if let Some(needs) = comment.strip_prefix(" needs: ") {
            head.needs.extend(needs.split(';').map(str::trim));
        } else if comment == " usual: yes" {
            head.is_usual = true;
        } else {
            break;
        }
        head.code = rest.trim_start_matches('\n');
    }
    head
}

/// Fills in the values of these parameters: on a line that ends in `// = NAME`, the value after the
/// equals sign is replaced.
fn fill_placeholders(code: &str, params: &Params) -> String {
    let lines = code.lines().map(|line| {
        let mark = |mark: &&str| line.split_once(&format!("{mark} = "));
        let Some((statement, name)) = COMMENT_MARKS.iter().find_map(mark) else { return line.to_owned() };
        let statement = statement.trim_end();
        let parts = statement.rsplit_once("= ").zip(params.0.get(name.trim()));
        parts.map_or_else(
            || statement.to_owned(),
            |((before, old), &value)| assignment_text(before, old, value),
        )
    });
    lines.map(|line| line + "\n").collect()
}

/// Formats `before = value` in the form of the old value: a boolean or a number, with an optional
/// semicolon.
fn assignment_text(before: &str, old: &str, value: u64) -> String {
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
    fn every_snippet_states_its_needs_and_marks_only_parameters_with_units() {
        assert!(EMBEDDED.len() > 20, "{}", EMBEDDED.len());
        for (contender, name, language, text) in EMBEDDED {
            let head = parse_head(text);
            assert!(head.code.len() > 80 && head.code.ends_with('\n'), "{contender}/{name}");
            let languages = ["rs", "c", "cpp", "cs", "go", "java", "js", "kt", "mjs", "py", "swift"];
            assert!(languages.contains(language), "{contender}/{name}");
            let code = fill_placeholders(head.code, &Params::default());
            assert!(!code.contains("// = ") && !code.contains("# = "), "{contender}/{name}");
        }
    }

    #[test]
    fn the_needs_of_a_method_and_its_scan_are_combined() {
        assert_eq!(method_needs(&id("rust/buffered/iterator").method), Some(BTreeSet::new()));
        let mapped = method_needs(&id("rust/mmap/avx2").method).unwrap();
        assert!(mapped.contains("unsafe code") && mapped.contains("the crate memmap2"), "{mapped:?}");
        assert!(method_needs(&id("rust/read/memchr").method).unwrap().contains("the crate memchr"));
        assert_eq!(method_needs(&id("foreign/read").method), None);
        let extent = |name: &str| super::code_extent(&id(name).method).unwrap();
        assert_eq!(extent("rust/auto-safe").unsafe_part_count, 0);
        assert!(extent("rust/auto-safe/avx2") < extent("rust/auto/avx2"));
        assert!(extent("rust/auto/memchr") < extent("rust/io_uring/memchr"), "short where both are unsafe");
        assert_eq!(super::code_extent(&id("foreign/read").method), None);
        assert!(is_usual(&id("rust/lines").method) && !is_usual(&id("rust/mmap").method));
    }

    #[test]
    fn parameter_values_are_filled_in_and_marks_removed() {
        let code = |name: &str| {
            let id = id(name);
            super::snippets_of_method(&id.method, &id.params).remove(0).code
        };
        assert!(code("rust/read/iterator@buffer=12345B").contains("usize = 12345;\n"));
        assert!(code("python/read@buffer=12345B").starts_with("BUFFER_BYTES = 12345\n"));
        assert!(code("go/os.File.Read@buffer=12345B").contains("const bufferBytes = 12345\n"));
        let mapped = code("rust/mmap/iterator@threads=3,populate=1");
        assert!(mapped.contains("= 3;\n") && mapped.contains("= true;\n"), "{mapped}");
        assert!(!mapped.contains("// ="), "{mapped}");
        assert!(super::snippets_of_method(&id("foreign/read").method, &Params::default()).is_empty());
    }
}
