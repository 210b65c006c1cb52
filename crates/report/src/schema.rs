//! The schemas of readlab's outputs for programs: JSON Schema (draft 2020-12), generated from the
//! serialized types. New fields may be added within a version; removing a field, renaming it or
//! changing its type makes a new version. `docs/schema/` holds the schemas as files, and lists the
//! fields of each version.

use super::{claims, comparison, escaped, json, verification};
use readlab_record::Line;
use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;

/// A format that programs read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonFormat {
    Record,
    Export,
    Comparison,
    Claims,
    Verification,
}

readlab_model::worded! {
    JsonFormat {
        Record = "record",
        Export = "export",
        Comparison = "comparison",
        Claims = "claims",
        Verification = "verification"
    }
}

impl JsonFormat {
    pub const ALL: [JsonFormat; 5] = [
        JsonFormat::Record,
        JsonFormat::Export,
        JsonFormat::Comparison,
        JsonFormat::Claims,
        JsonFormat::Verification,
    ];

    /// What the schema of the format describes.
    pub fn about(self) -> &'static str {
        match self {
            JsonFormat::Record => "A line of a record; the first line is the header",
            JsonFormat::Export => "What --export-json of a run or of `readlab report` writes",
            JsonFormat::Comparison => "What --export-json of `readlab compare` writes",
            JsonFormat::Claims => "What --export-json of `readlab claims` writes",
            JsonFormat::Verification => "What `readlab verify --json` prints",
        }
    }

    /// The text of the schema, indented, with a newline at its end.
    pub fn schema_text(self) -> String {
        escaped::json_text(&self.schema(SchemaSettings::draft2020_12()))
    }

    pub(super) fn schema(self, settings: SchemaSettings) -> Schema {
        let settings = settings.for_serialize().with_transform(RecursiveTransform(allow_more_fields));
        let generator = settings.into_generator();
        let mut schema = match self {
            JsonFormat::Record => generator.into_root_schema_for::<Line>(),
            JsonFormat::Export => json::schema(generator),
            JsonFormat::Comparison => comparison::schema(generator),
            JsonFormat::Claims => claims::schema(generator),
            JsonFormat::Verification => verification::schema(generator),
        };
        schema.insert("title".to_owned(), format!("readlab.{self}").into());
        schema.insert("description".to_owned(), format!("{}.", self.about()).into());
        schema
    }
}

/// Allows unknown fields, so that a stored schema still accepts documents with fields that are
/// added later.
fn allow_more_fields(schema: &mut Schema) {
    if schema.get("additionalProperties").is_some_and(|more| more.as_bool() == Some(false)) {
        schema.remove("additionalProperties");
    }
}
