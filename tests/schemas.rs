//! The schemas that readlab prints, and the check that its output follows them.

use boon::{Compiler, SchemaIndex, Schemas};
use readlab_report::JsonFormat;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

static COMPILED_SCHEMAS: LazyLock<BTreeMap<String, (Schemas, SchemaIndex)>> = LazyLock::new(|| {
    let compiled = |format: JsonFormat| {
        let (mut compiler, mut schemas) = (Compiler::new(), Schemas::new());
        let schema = serde_json::from_str(&format.schema_text()).unwrap();
        compiler.add_resource("schema.json", schema).unwrap();
        let index = compiler.compile("schema.json", &mut schemas).unwrap();
        (format!("readlab.{format}"), (schemas, index))
    };
    JsonFormat::ALL.into_iter().map(compiled).collect()
});

/// Fails if a document of a format with a schema does not follow the schema.
#[track_caller]
pub(crate) fn check(document: &Value) {
    let format = document["schema"].as_str().unwrap_or_default();
    if let Some((schemas, index)) = COMPILED_SCHEMAS.get(format)
        && let Err(error) = schemas.validate(document, *index)
    {
        panic!("{format}: {error}");
    }
}
