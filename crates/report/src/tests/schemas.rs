//! Tests of the schemas: the files in `docs/schema/` are equal to the printed schemas, the schemas
//! describe everything that readlab writes, and no version loses a field. `docs/schema/fields/`
//! lists the fields that each version has had.

use super::recomputed::records;
use crate::verification::{self, ContenderReport, Fault, MethodReport, Verdict};
use crate::{JsonFormat, claims_json, comparison_json, write_json_with_claims};
use boon::{Compiler, SchemaIndex, Schemas};
use readlab_analysis::compare::{Center, Comparison, Measure, Side};
use readlab_record::testing::scripted;
use readlab_record::{Line, SCHEMA_VERSION};
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

struct CompiledSchema {
    schemas: Schemas,
    printed: SchemaIndex,
    /// The printed schema, changed to reject fields that it does not name.
    closed: SchemaIndex,
}

static COMPILED_SCHEMAS: LazyLock<[CompiledSchema; 5]> = LazyLock::new(|| {
    JsonFormat::ALL.map(|format| {
        let (mut compiler, mut schemas) = (Compiler::new(), Schemas::new());
        let settings = SchemaSettings::draft2020_12();
        // References are inlined: a closed schema behind a reference would reject the fields beside
        // the reference.
        let inline = settings.clone().with(|it| it.inline_subschemas = true);
        let mut closed = format.schema(inline).to_value();
        reject_unknown_fields(&mut closed);
        let [printed, closed] =
            [("printed.json", format.schema(settings).to_value()), ("closed.json", closed)].map(
                |(name, schema)| {
                    compiler.add_resource(name, schema).unwrap();
                    compiler.compile(name, &mut schemas).unwrap_or_else(|error| panic!("{format}: {error:#}"))
                },
            );
        CompiledSchema { schemas, printed, closed }
    })
});

/// Checks that a document or line is valid under the schema and has only fields that the schema
/// names.
#[track_caller]
pub(super) fn assert_described(format: JsonFormat, written: &Value) {
    let CompiledSchema { schemas, printed, closed } = &COMPILED_SCHEMAS[format as usize];
    for schema in [printed, closed] {
        if let Err(error) = schemas.validate(written, *schema) {
            panic!("{format}: {error}");
        }
    }
}

fn reject_unknown_fields(schema: &mut Value) {
    reject_unknown_fields_below(schema);
    if let Value::Object(schema) = schema {
        schema.insert("unevaluatedProperties".to_owned(), false.into());
    }
}

fn reject_unknown_fields_below(schema: &mut Value) {
    for (keyword, below) in schema.as_object_mut().into_iter().flatten() {
        match keyword.as_str() {
            "properties" => below.as_object_mut().unwrap().values_mut().for_each(reject_unknown_fields),
            "items" | "additionalProperties" => reject_unknown_fields(below),
            "prefixItems" => below.as_array_mut().unwrap().iter_mut().for_each(reject_unknown_fields),
            "allOf" | "anyOf" | "oneOf" => {
                below.as_array_mut().unwrap().iter_mut().for_each(reject_unknown_fields_below)
            }
            _ => {}
        }
    }
}

fn repository_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn schema_file(format: JsonFormat) -> String {
    format!("docs/schema/{format}.json")
}

#[test]
fn the_schema_files_are_what_the_command_prints() {
    for format in JsonFormat::ALL {
        let kept = fs::read_to_string(repository_root().join(schema_file(format))).unwrap_or_default();
        let is_kept = kept == format.schema_text();
        assert!(
            is_kept,
            "{} is not what `readlab schema {format}` prints: make schemas",
            schema_file(format)
        );
    }
    let files = fs::read_dir(repository_root().join("docs/schema")).unwrap();
    let folders = 1;
    assert_eq!(files.count(), JsonFormat::ALL.len() + folders);
}

/// The types without a rule beside `ci95`, because it always comes from the same method:
/// resampling, a fitted model, a control or a probe, or the mean over rounds.
const TYPES_OF_ONE_RULE: [&str; 6] =
    ["Estimate", "Limit", "PredictedRate", "Prediction", "Quantile", "Times"];

#[test]
fn every_interval_of_a_trial_and_of_a_pair_has_its_rule() {
    for format in [JsonFormat::Export, JsonFormat::Comparison, JsonFormat::Claims] {
        let schema = format.schema(SchemaSettings::draft2020_12()).to_value();
        for (name, definition) in schema["$defs"].as_object().unwrap() {
            let has = |field: &str| definition["properties"].get(field).is_some();
            if has("ci95") && !TYPES_OF_ONE_RULE.contains(&name.as_str()) || has("median_ci95") {
                assert!(has("interval"), "{format}: {name} has no rule");
            }
        }
    }
    for (name, record) in records() {
        let mut text = Vec::new();
        write_json_with_claims(&record, &[], &mut text).unwrap();
        let document: Value = serde_json::from_slice(&text).unwrap();
        for part in ["trials", "advice", "archives", "memory"] {
            check_rules(&document[part], &format!("{name}: {part}"));
        }
    }
}

/// Checks that each object with an interval and a rule has both or neither.
fn check_rules(value: &Value, place: &str) {
    match value {
        Value::Object(fields) => {
            let ends = fields.get("ci95").or_else(|| fields.get("median_ci95"));
            if let Some((ends, rule)) = ends.zip(fields.get("interval")) {
                assert_eq!(ends.is_null(), rule.is_null(), "{place}: {value}");
            }
            fields.iter().for_each(|(name, it)| check_rules(it, &format!("{place}.{name}")));
        }
        Value::Array(all) => all.iter().for_each(|it| check_rules(it, place)),
        _ => {}
    }
}

#[test]
fn a_version_only_gains_fields() {
    for format in JsonFormat::ALL {
        let now = fields_of_schema(&serde_json::from_str(&format.schema_text()).unwrap());
        let file = fields_file(format, &now);
        let listed = parse_fields(&fs::read_to_string(repository_root().join(&file)).expect(&file));
        let lost = lost_properties(&listed, &now);
        assert!(lost.is_empty(), "readlab.{format} needs a new version:\n{}", lost.join("\n"));
        assert!(with_new_fields(&listed, &now) == listed, "{file} lacks fields that are new: make schemas");
    }
}

/// Adds new fields to the lists. In a draft that was never released, fields are removed by hand.
#[test]
#[ignore = "it writes docs/schema/fields; make schemas runs it"]
fn append_new_fields() {
    fs::create_dir_all(repository_root().join(FIELDS_FOLDER)).unwrap();
    for format in JsonFormat::ALL {
        let now = fields_of_schema(&serde_json::from_str(&format.schema_text()).unwrap());
        let file = repository_root().join(fields_file(format, &now));
        let listed = parse_fields(&fs::read_to_string(&file).unwrap_or_default());
        fs::write(file, fields_text(&with_new_fields(&listed, &now))).unwrap();
    }
}

const FIELDS_FOLDER: &str = "docs/schema/fields";

/// The list of the fields of the current version of a format.
fn fields_file(format: JsonFormat, fields: &Fields) -> String {
    let of_document = fields.get(".version").or_else(|| fields.get("(header).version"));
    let is_number = |property: &&String| property.parse::<u32>().is_ok();
    let version = of_document.and_then(|properties| properties.iter().find(is_number));
    format!("{FIELDS_FOLDER}/{format}-{}.txt", version.expect("a schema has its version as a constant"))
}

/// A line for each field: its path and its properties, separated by tabs. Properties with texts are
/// JSON, where tabs are escaped.
fn fields_text(fields: &Fields) -> String {
    let line = |(path, properties): (&String, &BTreeSet<String>)| {
        let parts: Vec<&str> = [path].into_iter().chain(properties).map(String::as_str).collect();
        format!("{}\n", parts.join("\t"))
    };
    fields.iter().map(line).collect()
}

fn parse_fields(text: &str) -> Fields {
    let field = |line: &str| -> (String, BTreeSet<String>) {
        let mut parts = line.split('\t').map(str::to_owned);
        (parts.next().unwrap_or_default(), parts.collect())
    };
    text.lines().map(field).collect()
}

/// The listed fields, the new fields, and new guarantees on listed fields. A further type of a
/// listed field is no guarantee, so it is not added.
fn with_new_fields(listed: &Fields, now: &Fields) -> Fields {
    let mut all = listed.clone();
    for (path, properties) in now {
        let is_listed = listed.contains_key(path);
        let new = properties.iter().filter(|property| !(is_listed && property.starts_with(TYPE_PREFIX)));
        all.entry(path.clone()).or_default().extend(new.cloned());
    }
    all
}

/// The properties that listed fields have and that a schema does not guarantee, and new types of
/// these fields, a line each.
fn lost_properties(listed: &Fields, now: &Fields) -> Vec<String> {
    let mut lost = Vec::new();
    for (path, before) in listed {
        let Some(now) = now.get(path) else {
            lost.push(format!("{path} is removed"));
            continue;
        };
        lost.extend(before.difference(now).map(|what| format!("{path} is no longer {what}")));
        let more = now.difference(before).filter(|what| what.starts_with(TYPE_PREFIX));
        lost.extend(more.map(|what| format!("{path} is now {what}")));
    }
    lost
}

/// The properties of each field, by its path.
type Fields = BTreeMap<String, BTreeSet<String>>;

const TYPE_PREFIX: &str = "of type ";

fn fields_of_schema(schema: &Value) -> Fields {
    let mut found = Fields::new();
    collect_fields(schema, schema, "", &mut found);
    found
}

fn collect_fields(root: &Value, schema: &Value, path: &str, found: &mut Fields) {
    if let Some(to) = schema["$ref"].as_str() {
        collect_fields(root, root.pointer(to.trim_start_matches('#')).unwrap(), path, found);
    }
    let listed = |keyword: &str| match &schema[keyword] {
        Value::Null => Vec::new(),
        Value::Array(all) => all.clone(),
        one => vec![one.clone()],
    };
    let said = found.entry(path.to_owned()).or_default();
    said.extend(listed("type").iter().map(|it| format!("{TYPE_PREFIX}{}", it.as_str().unwrap())));
    said.extend(["const", "enum"].into_iter().flat_map(&listed).map(|it| it.to_string()));
    for field in listed("required") {
        let field = format!("{path}.{}", field.as_str().unwrap());
        found.entry(field).or_default().insert("in all".to_owned());
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        collect_fields(root, field, &format!("{path}.{name}"), found);
    }
    for (keyword, mark) in [("items", "[]"), ("additionalProperties", ".*"), ("propertyNames", ".* (name)")] {
        if schema[keyword].is_object() {
            collect_fields(root, &schema[keyword], &format!("{path}{mark}"), found);
        }
    }
    for (at, item) in listed("prefixItems").iter().enumerate() {
        collect_fields(root, item, &format!("{path}[{at}]"), found);
    }
    for variant in ["allOf", "anyOf", "oneOf"].into_iter().flat_map(&listed) {
        // Variants are distinguished by a field with a constant word.
        let fields = variant["properties"].as_object();
        let word = fields.and_then(|fields| fields.values().find_map(|it| it["const"].as_str()));
        let path = word.map_or_else(|| path.to_owned(), |word| format!("{path}({word})"));
        collect_fields(root, &variant, &path, found);
    }
}

#[test]
fn lost_properties_of_a_schema_are_named_and_a_new_version_has_its_own_list() {
    let schema = |version: u32, trials: Value| {
        fields_of_schema(&json!({
            "properties": {
                "version": { "type": "integer", "const": version },
                "trials": { "items": { "$ref": "#/$defs/T" } },
            },
            "$defs": { "T": trials },
        }))
    };
    let trial = |properties: Value| json!({ "type": "object", "properties": properties, "required": ["a"] });
    let before = trial(json!({ "a": { "type": "integer" }, "b": { "enum": ["x", "y"] } }));
    let after = |now: &Value| lost_properties(&schema(1, before.clone()), &schema(1, now.clone()));
    assert_eq!(after(&before), Vec::<String>::new());
    let more = trial(json!({ "a": { "type": "integer" }, "b": { "enum": ["x", "y", "z"] }, "c": {} }));
    assert_eq!(after(&more), Vec::<String>::new());
    let removed = trial(json!({ "a": { "type": "integer" } }));
    assert_eq!(after(&removed), [".trials[].b is removed"]);
    let changed = trial(json!({ "a": { "type": ["integer", "null"] }, "b": { "enum": ["x"] } }));
    assert_eq!(after(&changed), [".trials[].a is now of type null", ".trials[].b is no longer \"y\""]);
    let optional = json!({ "type": "object", "properties": before["properties"] });
    assert_eq!(after(&optional), [".trials[].a is no longer in all"]);
    let file = |version| fields_file(JsonFormat::Export, &schema(version, before.clone()));
    assert_eq!([file(1), file(2)], ["docs/schema/fields/export-1.txt", "docs/schema/fields/export-2.txt"]);
}

#[test]
fn a_list_of_fields_gains_fields_and_words_and_never_loses_any() {
    let list = |text: &str| parse_fields(text);
    let listed = list(".a\tin all\tof type integer\n.b\t\"x\"\tof type string\n.kept\n");
    assert_eq!(list(&fields_text(&listed)), listed);
    let now = list(".a\tof type null\tof type integer\n.b\t\"x\"\t\"y\"\tof type string\n.c\tof type null\n");
    let all = ".a\tin all\tof type integer\n.b\t\"x\"\t\"y\"\tof type string\n.c\tof type null\n.kept\n";
    assert_eq!(fields_text(&with_new_fields(&listed, &now)), all);
    let lost = [".a is no longer in all", ".a is now of type null", ".kept is removed"];
    assert_eq!(lost_properties(&list(all), &now), lost);
}

#[test]
fn every_line_of_a_record_is_described() {
    let texts = scripted::names().into_iter().map(scripted::text);
    let every_line = include_str!("../../../record/src/tests/every_line.jsonl").to_owned();
    for text in texts.chain([every_line]) {
        // The last line may be cut off.
        for line in text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
            let mut written = json!(line);
            if matches!(line, Line::Header(_)) {
                written["version"] = SCHEMA_VERSION.into();
            }
            assert_described(JsonFormat::Record, &written);
        }
    }
}

#[test]
fn every_export_of_a_record_is_described() {
    for (_, record) in records() {
        let judged = readlab_claims::judge_built_in(&record);
        let mut text = Vec::new();
        write_json_with_claims(&record, &judged, &mut text).unwrap();
        assert_described(JsonFormat::Export, &serde_json::from_slice(&text).unwrap());
        assert_described(JsonFormat::Claims, &serde_json::from_str(&claims_json(&judged)).unwrap());
        let sides = ["a", "b"].map(|name| Side::of_record(&record, name, "here"));
        let measures = [Measure::Wall, Measure::Rate, Measure::Slope, Measure::Syscalls];
        for (center, worse) in [(Center::Median, None), (Center::Mean, Some(&["worse".to_owned()][..]))] {
            let Ok(comparison) = Comparison::new(sides.to_vec(), &measures, center, false) else { continue };
            let text = comparison_json(&comparison, None, worse);
            assert_described(JsonFormat::Comparison, &serde_json::from_str(&text).unwrap());
        }
    }
}

#[test]
fn claims_without_a_record_are_described() {
    let files =
        readlab_claims::built_in_names().into_iter().map(|name| readlab_claims::find_built_in(name).unwrap());
    let judged: Vec<_> = files.map(|file| readlab_claims::judge(&file, None)).collect();
    assert_described(JsonFormat::Claims, &serde_json::from_str(&claims_json(&judged)).unwrap());
}

#[test]
fn every_verdict_of_a_verification_is_described() {
    let receipt = records().into_iter().find_map(|(_, record)| record.contenders.into_iter().next());
    let words = |word: &str| word.to_owned();
    let fault = Fault { request: words("newlines"), reason: words("wrong"), repeat_command: words("again") };
    let verdicts = [
        Verdict::Ok,
        Verdict::Failed(fault),
        Verdict::Unavailable { reason: words("no ring") },
        Verdict::NotVerified { reason: words("a control") },
    ];
    let mut methods: Vec<_> = verdicts.map(|verdict| MethodReport::of_method("read", verdict)).into();
    methods[0].left_out = vec![words("parts")];
    let contenders = [
        ContenderReport { contender: words("a"), receipt, why_untested: None, methods },
        ContenderReport {
            contender: words("b"),
            receipt: None,
            why_untested: Some(words("it needs a compiler")),
            methods: Vec::new(),
        },
    ];
    assert!(contenders[0].receipt.is_some());
    let text = verification::json(&contenders);
    assert_described(JsonFormat::Verification, &serde_json::from_str(&text).unwrap());
}
