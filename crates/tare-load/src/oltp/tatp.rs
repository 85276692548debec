//! TATP: a telephone network asks where its subscribers are ("Telecom Application Transaction Processing Benchmark",
//! description 1.0, 2009). Short transactions, four of five only read; many find nothing, as they are meant to.
//!
//! What the description counts as a failed transaction — no row found, a row that is there already — is rolled back.

mod checks;
mod delete_call_forwarding;
mod get_access_data;
mod get_new_destination;
mod get_subscriber_data;
mod insert_call_forwarding;
mod population;
mod schema;
mod subscribers;
mod update_location;
mod update_subscriber_data;
mod value;

use crate::oltp::workload::{TransactionType, kinds};
use crate::oltp::{
    Check, Failure, Kind, Mistake, Options, Part, Random, Row, Rows, Statement, Table, Transaction, Workload,
};
use delete_call_forwarding::DeleteCallForwarding;
use get_access_data::GetAccessData;
use get_new_destination::GetNewDestination;
use get_subscriber_data::GetSubscriberData;
use insert_call_forwarding::InsertCallForwarding;
use subscribers::Subscribers;
use update_location::UpdateLocation;
use update_subscriber_data::UpdateSubscriberData;

/// Subscribers at scale 1.
const PER_SCALE: f64 = 100_000.0;
/// Of a part.
const SUBSCRIBERS_AT_ONCE: i64 = 20_000;

static ID_OF_NUMBER: Statement = Statement::new("SELECT s_id FROM subscriber WHERE sub_nbr = $1");

static TYPES: [TransactionType<Tatp>; 7] = [
    TransactionType::new("delete_call_forwarding", 2.0, true, |tatp, random, _| {
        Box::new(DeleteCallForwarding::draw(tatp.subscribers.draw(random), random))
    }),
    TransactionType::new("get_access_data", 35.0, false, |tatp, random, _| {
        Box::new(GetAccessData::draw(tatp.subscribers.draw(random), random))
    }),
    TransactionType::new("get_new_destination", 10.0, false, |tatp, random, _| {
        Box::new(GetNewDestination::draw(tatp.subscribers.draw(random), random))
    }),
    TransactionType::new("get_subscriber_data", 35.0, false, |tatp, random, _| {
        Box::new(GetSubscriberData { s_id: tatp.subscribers.draw(random) })
    }),
    TransactionType::new("insert_call_forwarding", 2.0, true, |tatp, random, _| {
        Box::new(InsertCallForwarding::draw(tatp.subscribers.draw(random), random))
    }),
    TransactionType::new("update_location", 14.0, true, |tatp, random, _| {
        Box::new(UpdateLocation::draw(tatp.subscribers.draw(random), random))
    }),
    TransactionType::new("update_subscriber_data", 2.0, true, |tatp, random, _| {
        Box::new(UpdateSubscriberData::draw(tatp.subscribers.draw(random), random))
    }),
];
static KINDS: [Kind; 7] = kinds(&TYPES);

/// At one scale.
#[derive(Debug)]
pub struct Tatp {
    scale: f64,
    data_seed: u64,
    subscribers: Subscribers,
}

impl Tatp {
    /// Has no options.
    pub fn new(scale: f64, data_seed: u64, options: Options) -> Result<Self, Mistake> {
        options.finish("tatp")?;
        if !(0.001..=10_000.0).contains(&scale) {
            return Err(Mistake(format!(
                "scale = {scale}: give hundreds of thousands of subscribers, from 0.001 (100 subscribers) to 10000"
            )));
        }
        Ok(Self { scale, data_seed, subscribers: Subscribers::new((scale * PER_SCALE).round() as i64) })
    }
}

impl Workload for Tatp {
    fn name(&self) -> &'static str {
        "tatp"
    }

    fn scale(&self) -> f64 {
        self.scale
    }

    fn kinds(&self) -> &'static [Kind] {
        &KINDS
    }

    fn tables(&self) -> &'static [Table] {
        schema::TABLES
    }

    fn parts(&self) -> Vec<Part> {
        // Rows of each table for four subscribers, on average.
        [
            (schema::SUBSCRIBER, 4),
            (schema::ACCESS_INFO, 10),
            (schema::SPECIAL_FACILITY, 10),
            (schema::CALL_FORWARDING, 15),
        ]
        .into_iter()
        .flat_map(|(table, of_four)| {
            (0..self.subscribers.count()).step_by(SUBSCRIBERS_AT_ONCE as usize).map(move |before| {
                let subscribers = SUBSCRIBERS_AT_ONCE.min(self.subscribers.count() - before) as u64;
                Part { table, number: before as u64, rows: subscribers * of_four / 4 }
            })
        })
        .collect()
    }

    /// A part's number is how many subscribers come before it.
    fn fill(&self, part: Part, rows: &mut dyn Rows) -> Result<(), Failure> {
        let before = part.number as i64;
        let last = self.subscribers.count().min(before + SUBSCRIBERS_AT_ONCE);
        (before + 1..=last).try_for_each(|s_id| population::fill(part.table, self.data_seed, s_id, rows))
    }

    fn draw(&self, kind: usize, random: &mut Random, home: Option<u64>) -> Box<dyn Transaction> {
        (TYPES[kind].draw)(self, random, home)
    }

    fn checks(&self) -> &'static [Check] {
        checks::CHECKS
    }
}

/// A subscriber is always there.
fn found(row: Option<Row>, s_id: i64) -> Result<Row, Failure> {
    row.ok_or_else(|| {
        Failure::foreign(format!(
            "there is no subscriber {s_id}: the tables are not tatp's at this scale, load it again"
        ))
    })
}
