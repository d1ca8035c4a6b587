//! A validator for the part of JSON Schema 2020-12 that our schemas use. A keyword that it does not know is an error, so
//! that nothing in a schema goes unchecked.

use serde_json::Value;
use std::path::Path;

/// Keywords that only inform.
const NOTES: [&str; 5] = ["$schema", "$defs", "title", "description", "format"];

/// A schema.
pub struct Schema(Value);

impl Schema {
    /// Reads a schema; `file` is below the root of the repository.
    pub fn read(file: &str) -> Self {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        Self(serde_json::from_str(&text).unwrap())
    }

    /// What is wrong with a value: the first complaint, and where.
    pub fn complaint(&self, value: &Value) -> Option<String> {
        self.check(&self.0, value, "$").err()
    }

    fn check(&self, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
        let Some(schema) = schema.as_object() else {
            return if schema == &Value::Bool(false) { Err(format!("{at}: nothing may be here")) } else { Ok(()) };
        };
        for (keyword, wanted) in schema {
            let fits = match keyword.as_str() {
                "$ref" => {
                    self.check(self.definition(wanted), value, at)?;
                    true
                }
                "type" => match wanted {
                    Value::Array(any) => any.iter().any(|t| is(t, value)),
                    one => is(one, value),
                },
                "enum" => wanted.as_array().is_some_and(|all| all.contains(value)),
                "const" => wanted == value,
                "minimum" => value.as_f64().is_none_or(|n| n >= wanted.as_f64().unwrap_or(f64::MAX)),
                "maximum" => value.as_f64().is_none_or(|n| n <= wanted.as_f64().unwrap_or(f64::MIN)),
                "minLength" => value.as_str().is_none_or(|s| s.chars().count() as u64 >= number(wanted)),
                "minItems" => value.as_array().is_none_or(|a| a.len() as u64 >= number(wanted)),
                "maxItems" => value.as_array().is_none_or(|a| a.len() as u64 <= number(wanted)),
                "anyOf" => self.alternatives(wanted, value, at)? > 0,
                "oneOf" => self.alternatives(wanted, value, at)? == 1,
                "required" => {
                    let names = wanted.as_array().into_iter().flatten().filter_map(Value::as_str);
                    let missing = names.filter(|n| value.is_object() && value.get(*n).is_none()).collect::<Vec<_>>();
                    if !missing.is_empty() {
                        return Err(format!("{at}: lacks {missing:?}"));
                    }
                    true
                }
                "items" => {
                    for (k, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(wanted, item, &format!("{at}[{k}]"))?;
                    }
                    true
                }
                "properties" => {
                    for (name, schema) in wanted.as_object().into_iter().flatten() {
                        if let Some(inner) = value.get(name) {
                            self.check(schema, inner, &format!("{at}.{name}"))?;
                        }
                    }
                    true
                }
                "additionalProperties" => {
                    let known = schema.get("properties");
                    for (name, inner) in value.as_object().into_iter().flatten() {
                        if known.and_then(|p| p.get(name)).is_none() {
                            self.check(wanted, inner, &format!("{at}.{name}"))?;
                        }
                    }
                    true
                }
                note if NOTES.contains(&note) => true,
                unknown => panic!("the validator does not know `{unknown}`"),
            };
            if !fits {
                let shown: String = value.to_string().chars().take(200).collect();
                return Err(format!("{at}: {shown} is not `{keyword}: {wanted}`"));
            }
        }
        Ok(())
    }

    /// How many of the alternatives fit; when none does, the complaint of the one that comes furthest.
    fn alternatives(&self, all: &Value, value: &Value, at: &str) -> Result<usize, String> {
        let tried: Vec<_> = all.as_array().into_iter().flatten().map(|one| self.check(one, value, at)).collect();
        let fit = tried.iter().filter(|t| t.is_ok()).count();
        let place = |e: &&String| e.split(": ").next().unwrap_or("").len();
        match tried.iter().filter_map(|t| t.as_ref().err()).max_by_key(place) {
            Some(furthest) if fit == 0 => Err(furthest.clone()),
            _ => Ok(fit),
        }
    }

    fn definition(&self, reference: &Value) -> &Value {
        let name = reference.as_str().and_then(|r| r.strip_prefix("#/$defs/")).unwrap_or("");
        self.0.get("$defs").and_then(|d| d.get(name)).unwrap_or_else(|| panic!("no definition for {reference}"))
    }
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no bound"))
}

fn is(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap_or("") {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        unknown => panic!("there is no type `{unknown}`"),
    }
}
