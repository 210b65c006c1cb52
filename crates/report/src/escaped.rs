//! Exported JSON: indented, with a newline at its end, and without characters that a terminal would
//! interpret. The serializer writes pieces, so a document of many samples is never in memory as a
//! whole.

use readlab_system::terminal::printable::is_unprintable;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter};
use serde_json::{Serializer, Value, json};
use std::io::{self, Write};

/// A document whose first fields name its format and version.
#[derive(Serialize, JsonSchema)]
pub(super) struct Document<T> {
    pub(super) schema: &'static str,
    pub(super) version: u32,
    #[serde(flatten)]
    pub(super) content: T,
}

/// Whether a file that begins with `head` is a document of this format.
pub(super) fn is_document(head: &str, schema: &str) -> bool {
    head.starts_with(&format!("{{\n  \"schema\": \"{schema}\""))
}

pub(super) fn schema<T: JsonSchema>(generator: SchemaGenerator, schema: &str, version: u32) -> Schema {
    let mut made = generator.into_root_schema_for::<Document<T>>();
    for (field, value) in [("schema", json!(schema)), ("version", json!(version))] {
        let property = made.pointer_mut(&format!("/properties/{field}")).and_then(Value::as_object_mut);
        property.expect("every document has both").insert("const".to_owned(), value);
    }
    made
}

/// The layout of [`PrettyFormatter`], with more characters escaped.
struct EscapingFormatter<'a>(PrettyFormatter<'a>);

pub(super) fn write(document: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    document
        .serialize(&mut Serializer::with_formatter(&mut *out, EscapingFormatter(PrettyFormatter::new())))?;
    out.write_all(b"\n")
}

pub(super) fn json_text(document: &impl Serialize) -> String {
    let mut text = Vec::new();
    write(document, &mut text).expect("memory takes everything, and every key is a string");
    String::from_utf8(text).expect("JSON is UTF-8")
}

macro_rules! delegate_to_pretty {
    ($($name:ident($($argument:ident: $type:ty)?))*) => {$(
        fn $name<W: ?Sized + Write>(&mut self, out: &mut W $(, $argument: $type)?) -> io::Result<()> {
            self.0.$name(out $(, $argument)?)
        }
    )*};
}

impl Formatter for EscapingFormatter<'_> {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(is_unprintable) {
            let (plain, obeyed) = rest.split_at(at);
            let c = obeyed.chars().next().expect("one was found");
            // All escaped characters have code points of four hexadecimal digits.
            write!(out, "{plain}\\u{:04x}", u32::from(c))?;
            rest = &obeyed[c.len_utf8()..];
        }
        out.write_all(rest.as_bytes())
    }

    delegate_to_pretty! {
        begin_array() end_array() begin_array_value(first: bool) end_array_value()
        begin_object() end_object() begin_object_key(first: bool) begin_object_value() end_object_value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_control_characters_are_escaped_and_survive_parsing() {
        let document = json!({ "a\u{9b}b": ["x\u{202e}y\u{1b}z", "plain ü", "\n\"\\"], "empty": [{}, []] });
        let text = json_text(&document);
        assert!(!text.contains(|c: char| is_unprintable(c) && c != '\n'), "{text:?}");
        assert!(text.contains("a\\u009bb") && text.contains("x\\u202ey\\u001bz") && text.contains("plain ü"));
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), document);
        assert_eq!(
            text.replace("\\u009b", "\u{9b}").replace("\\u202e", "\u{202e}").trim_end(),
            format!("{document:#}")
        );
    }

    #[test]
    fn a_document_that_cannot_be_written_is_an_error() {
        let full = &mut [0_u8; 20][..];
        assert!(write(&json!({ "a": "more than there is room for" }), &mut { full }).is_err());
    }
}
