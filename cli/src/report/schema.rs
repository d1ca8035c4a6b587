//! The schema of reports, made of the types that are printed.
//!
//! Only who makes it needs this: it is a feature, since what describes 165 types takes seconds to compile (benches/README.md).

use super::data::Thread;
use super::diagnostic::SourcePlace;
use super::document::Report;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The schema of reports (JSON Schema 2020-12).
#[must_use]
pub fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    // Lower layers name instructions and threads; what stands for them in a report is put in when it is made.
    let place = generator.subschema_for::<Option<SourcePlace<'_>>>();
    let thread = generator.subschema_for::<Thread<'_>>();
    let mut schema = generator.into_root_schema_for::<Report<'_>>().to_value();
    schema["title"] = "Reports of warpstep".into();
    schema["$defs"]["Pc"] = place.to_value();
    schema["$defs"]["Place"] = thread.to_value();
    strict(&mut schema);
    schema
}

/// Allows no property that is not named. Properties that stand beside alternatives go into each of them, which would refuse
/// them otherwise.
fn strict(schema: &mut Value) {
    if let Some(all) = schema.as_object_mut() {
        if let Some(key) = ["anyOf", "oneOf"].into_iter().find(|key| all.contains_key(*key))
            && let Some(Value::Object(properties)) = all.shift_remove("properties")
        {
            let required = all.shift_remove("required").unwrap_or_else(|| json!([]));
            let alternatives = all.get_mut(key).and_then(Value::as_array_mut);
            alternatives.into_iter().flatten().for_each(|one| add(one, &properties, &required));
        }
        let alternatives = ["anyOf", "oneOf", "additionalProperties"].iter().any(|key| all.contains_key(*key));
        if !alternatives && (all.contains_key("properties") || all.get("type").is_some_and(|t| t == "object")) {
            all.insert("additionalProperties".to_owned(), false.into());
        }
        all.values_mut().for_each(strict);
    }
    schema.as_array_mut().into_iter().flatten().for_each(strict);
}

fn add(alternative: &mut Value, properties: &Map<String, Value>, required: &Value) {
    for (name, property) in properties {
        alternative["properties"][name] = property.clone();
    }
    let own = alternative["required"].as_array().into_iter().flatten();
    alternative["required"] = own.chain(required.as_array().into_iter().flatten()).cloned().collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// `BLESS=1` rewrites it.
    #[test]
    fn the_documented_schema_is_that_of_the_types() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schema/report.schema.json");
        let text = format!("{:#}\n", schema());
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&file, &text).unwrap();
        }
        assert!(std::fs::read_to_string(file).unwrap() == text, "run it with BLESS=1 and look at the difference");
    }
}
