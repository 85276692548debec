//! A workload put into a database.

use std::collections::BTreeMap;

use tare_load::oltp::request::{Action, Request};
use tare_load::oltp::{Workload, database};

use super::SEED;
use crate::servers::{PATIENCE, Server, shown};

impl Server {
    /// In place of what is there.
    pub fn load(&self, workload: &dyn Workload) {
        let request = Request {
            url: self.url.clone(),
            workload: workload.name().to_owned(),
            scale: Some(workload.scale()),
            options: BTreeMap::new(),
            seed: SEED,
            protocol: None,
            connect_timeout_s: PATIENCE.as_secs_f64(),
            action: Action::Load { connections: 2, replace: true },
        };
        database::load(&request, workload, &|| Ok(self.open()), &|_| ())
            .unwrap_or_else(|problem| panic!("{}: {problem}", self.url));
    }

    /// The first row of an answer, as text.
    pub fn first(&self, sql: &str) -> Vec<String> {
        let (_, rows) = self.open().ask(sql).unwrap_or_else(|failure| panic!("{sql}: {failure}"));
        rows.first().expect(sql).0.iter().map(shown).collect()
    }

    /// The answer to a query of one number.
    pub fn number(&self, sql: &str) -> u64 {
        self.first(sql)[0].parse().expect(sql)
    }
}
