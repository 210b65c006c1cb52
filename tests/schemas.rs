//! The schemas that readlab prints, and whether what it writes keeps them.

use boon::{Compiler, SchemaIndex, Schemas};
use readlab_report::Format;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// By the names of the formats.
static PRINTED: LazyLock<BTreeMap<String, (Schemas, SchemaIndex)>> = LazyLock::new(|| {
    let compiled = |format: Format| {
        let (mut compiler, mut schemas) = (Compiler::new(), Schemas::new());
        let schema = serde_json::from_str(&format.schema_text()).unwrap();
        compiler.add_resource("schema.json", schema).unwrap();
        let index = compiler.compile("schema.json", &mut schemas).unwrap();
        (format!("readlab.{format}"), (schemas, index))
    };
    Format::ALL.into_iter().map(compiled).collect()
});

/// Fails where a document of a format with a schema does not keep it.
#[track_caller]
pub(crate) fn check(document: &Value) {
    let format = document["schema"].as_str().unwrap_or_default();
    if let Some((schemas, index)) = PRINTED.get(format)
        && let Err(error) = schemas.validate(document, *index)
    {
        panic!("{format}: {error}");
    }
}
