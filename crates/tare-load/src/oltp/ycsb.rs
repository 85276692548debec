//! YCSB: records by key, and how unevenly they are asked for (Cooper, Silberstein, Tam, Ramakrishnan and Sears,
//! "Benchmarking cloud serving systems with YCSB", SoCC 2010).
//!
//! Each operation is a transaction. Keys, scale and the default mix are OLTP-Bench's, the core workloads YCSB's.
//! A key that is not there is no failure: what asks for it, changes or deletes it counts as committed.

mod checks;
mod delete;
mod insert;
mod keys;
mod mix;
mod read;
mod read_modify_write;
mod scan;
mod scatter;
mod schema;
mod settings;
mod statements;
mod text;
mod update;
mod zipf;

use std::sync::Arc;

use crate::oltp::{
    Check, Connection, Failure, Kind, Mistake, Options, Part, Random, Rows, Statement, Table, Transaction,
    Workload,
};
use keys::Keys;
use settings::Settings;

/// Records at scale 1.
const PER_SCALE: f64 = 1000.0;
/// Of a part: 10 MB.
const RECORDS_AT_ONCE: u64 = 10_000;

static HIGHEST: Statement = Statement::new("SELECT max(ycsb_key) FROM usertable");

/// At one scale, with one distribution of requests.
#[derive(Debug)]
pub struct Ycsb {
    scale: f64,
    records: u64,
    data_seed: u64,
    settings: Settings,
    keys: Arc<Keys>,
}

impl Ycsb {
    /// Options: core, distribution, theta, scan_length, read_fields, write_fields.
    pub fn new(scale: f64, data_seed: u64, mut options: Options) -> Result<Self, Mistake> {
        let settings = Settings::take(&mut options)?;
        options.finish("ycsb")?;
        if !(0.001..=1e9).contains(&scale) {
            return Err(Mistake(format!(
                "scale = {scale}: give thousands of records, from 0.001 (1 record) to 1000000000"
            )));
        }
        let records = (scale * PER_SCALE).round() as u64;
        let keys = Arc::new(Keys::new(settings.distribution, settings.theta, records));
        Ok(Self { scale, records, data_seed, settings, keys })
    }
}

impl Workload for Ycsb {
    fn name(&self) -> &'static str {
        "ycsb"
    }

    fn scale(&self) -> f64 {
        self.scale
    }

    fn kinds(&self) -> &'static [Kind] {
        mix::kinds(self.settings.core)
    }

    fn tables(&self) -> &'static [Table] {
        schema::TABLES
    }

    fn parts(&self) -> Vec<Part> {
        (0..self.records.div_ceil(RECORDS_AT_ONCE))
            .map(|number| {
                let rows = RECORDS_AT_ONCE.min(self.records - number * RECORDS_AT_ONCE);
                Part { table: 0, number, rows }
            })
            .collect()
    }

    fn fill(&self, part: Part, rows: &mut dyn Rows) -> Result<(), Failure> {
        let first = part.number * RECORDS_AT_ONCE;
        let mut field = String::with_capacity(schema::LENGTH);
        for key in first..self.records.min(first + RECORDS_AT_ONCE) {
            let mut random = Random::at(self.data_seed, &[key]);
            rows.int(key as i64);
            for _ in 0..schema::FIELDS {
                text::write(&mut field, &mut random);
                rows.text(&field);
            }
            rows.end()?;
        }
        Ok(())
    }

    fn draw(&self, kind: usize, random: &mut Random, _home: Option<u64>) -> Box<dyn Transaction> {
        mix::draw(self, kind, random)
    }

    fn meet(&self, on: &mut dyn Connection) -> Result<(), Failure> {
        let highest =
            on.row(&HIGHEST, &[])?.filter(|row| !row.is_null(0)).map(|row| row.int(0)).transpose()?;
        let Some(highest) = highest.and_then(|key| u64::try_from(key).ok()) else {
            return Err(Failure::foreign("usertable holds no record: load ycsb again"));
        };
        self.keys.meet(highest + 1);
        Ok(())
    }

    fn checks(&self) -> &'static [Check] {
        checks::CHECKS
    }
}
