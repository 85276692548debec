//! Conditions held against what is in a database, and against what was planted there.

use tare_load::oltp::{Check, Connection, Workload};

use crate::servers::{Server, shown};

/// A corruption that one condition finds.
pub struct Planted {
    check: &'static str,
    sql: Vec<String>,
    /// First fields of the first row that it names.
    keys: Vec<String>,
    /// What rolling back leaves, where DDL commits.
    mend: Vec<String>,
}

impl Planted {
    pub fn new(check: &'static str, sql: &str, keys: &[&str]) -> Self {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        Self { check, sql: vec![sql.to_owned()], keys, mend: Vec::new() }
    }

    /// Once `ddl` is done.
    pub fn after(mut self, ddl: String, mend: Vec<String>) -> Self {
        self.sql.insert(0, ddl);
        Self { mend, ..self }
    }
}

/// The rows that a condition names, as text.
pub fn failing(on: &mut dyn Connection, check: &Check) -> Vec<Vec<String>> {
    let asked = on.ask(&check.failing.text(on.dialect()));
    let (_, rows) = asked.unwrap_or_else(|failure| panic!("{}: {failure}", check.name));
    rows.iter().map(|row| row.0.iter().map(shown).collect()).collect()
}

impl Server {
    /// All conditions hold.
    pub fn assert_whole(&self, workload: &dyn Workload) {
        let mut on = self.open();
        for check in workload.checks() {
            let rows = failing(on.as_mut(), check);
            assert!(rows.is_empty(), "{}: {} of {}: {:?}", self.url, check.name, rows.len(), rows[0]);
        }
    }

    /// Every condition, in its order, finds what was planted for it; nothing of that stays.
    pub fn assert_found(&self, workload: &dyn Workload, planted: &[Planted]) {
        let names: Vec<_> = workload.checks().iter().map(|check| check.name).collect();
        assert_eq!(planted.iter().map(|planted| planted.check).collect::<Vec<_>>(), names);
        let mut on = self.open();
        for (check, Planted { sql, keys, mend, .. }) in workload.checks().iter().zip(planted) {
            on.begin(true).unwrap();
            all(on.as_mut(), sql);
            let rows = failing(on.as_mut(), check);
            on.rollback().unwrap();
            all(on.as_mut(), mend);
            let first = rows.first().map(|row| &row[..keys.len()]);
            assert_eq!(first, Some(&keys[..]), "{} on {}: {rows:?}", check.name, self.url);
        }
        self.assert_whole(workload);
    }
}

fn all(on: &mut dyn Connection, scripts: &[String]) {
    for sql in scripts {
        on.script(sql).unwrap_or_else(|failure| panic!("{sql}: {failure}"));
    }
}
