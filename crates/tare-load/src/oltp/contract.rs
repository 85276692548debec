//! What crosses from this crate to Python, as one JSON document: the schema of the driver's request, the schema of its
//! events, and the table of counts.
//!
//! `python/tare/workload/oltp/contract.py` generates the Python side of the counts from it, and the tests compare all
//! else field by field.

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::counts::COUNTS;
use super::events::Event;
use super::request::Request;

/// `request` and `events` are JSON schemas: of what the driver accepts, and of what it writes.
pub fn contract() -> Value {
    let settings = SchemaSettings::draft2020_12();
    json!({
        "request": settings.clone().for_deserialize().into_generator().into_root_schema_for::<Request>(),
        "events": settings.for_serialize().into_generator().into_root_schema_for::<Event>(),
        "counts": COUNTS,
    })
}
