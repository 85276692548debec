//! TPC-C, revision 5.11: an order-entry shop of warehouses, districts and customers.
//!
//! Scale: warehouses, about 100 MB each. Options:
//! - `fixed_lines`: every New-Order has so many lines and none rolls back, so that all send the same statements, 5 + 4 a
//!   line (else 5 to 15 lines, and 1% roll back).
//!
//! As the specification leaves it to the implementation, or where this one departs from it:
//! - Delivery is run when it is sent, not queued for later (clause 2.7.2): its own time is what is measured.
//! - Lines of an order are locked in the order in which they were drawn, unsorted; deadlocks are counted, not avoided.
//! - Condition 11 is 2,100 at the start only, as written; the deliveries that customers count are added to it.
//! - The initial rows bear one fixed instant (`generate`).

mod checks;
pub mod delivery;
mod generate;
mod names;
pub mod new_order;
mod nurand;
pub mod order_status;
pub mod payment;
mod schema;
pub mod stock_level;
mod terminal;
mod text;

use crate::oltp::workload::{TransactionType, kinds};
use crate::oltp::{
    Check, Failure, Kind, Mistake, Options, Part, Random, Rows, Table, Transaction, Value, Workload,
};
use delivery::Delivery;
use generate::Population;
use new_order::NewOrder;
use nurand::NonUniform;
use order_status::OrderStatus;
use payment::Payment;
use stock_level::StockLevel;
use terminal::Terminal;

/// Clauses 5.2.3 (mix) and 5.2.5.7 (keying and think times).
static TYPES: [TransactionType<Tpcc>; 5] = [
    TransactionType {
        kind: Kind { name: "new_order", share: 45.0, writes: true, keying_s: 18.0, think_s: 12.0 },
        draw: |tpcc, random, home| {
            Box::new(NewOrder::draw(
                tpcc.terminal(home, random),
                tpcc.fixed_lines,
                &tpcc.population.constants,
                random,
            ))
        },
    },
    TransactionType {
        kind: Kind { name: "payment", share: 43.0, writes: true, keying_s: 3.0, think_s: 12.0 },
        draw: |tpcc, random, home| {
            Box::new(Payment::draw(tpcc.terminal(home, random), &tpcc.population.constants, random))
        },
    },
    TransactionType {
        kind: Kind { name: "order_status", share: 4.0, writes: false, keying_s: 2.0, think_s: 10.0 },
        draw: |tpcc, random, home| {
            Box::new(OrderStatus::draw(tpcc.terminal(home, random), &tpcc.population.constants, random))
        },
    },
    TransactionType {
        kind: Kind { name: "delivery", share: 4.0, writes: true, keying_s: 2.0, think_s: 5.0 },
        draw: |tpcc, random, home| Box::new(Delivery::draw(tpcc.terminal(home, random), random)),
    },
    TransactionType {
        kind: Kind { name: "stock_level", share: 4.0, writes: false, keying_s: 2.0, think_s: 5.0 },
        draw: |tpcc, random, home| Box::new(StockLevel::draw(tpcc.terminal(home, random), random)),
    },
];
static KINDS: [Kind; 5] = kinds(&TYPES);

/// More would not fit into the columns' 32 bits with room to spare, nor on a disk.
const MOST_WAREHOUSES: f64 = 1_000_000.0;
/// What `ol_number` has two digits for.
const MOST_LINES: i64 = 99;

/// At so many warehouses.
pub struct Tpcc {
    population: Population,
    fixed_lines: Option<i64>,
}

impl Tpcc {
    /// Refuses parts of a warehouse, and options that it does not know.
    pub fn new(scale: f64, data_seed: u64, mut options: Options) -> Result<Self, Mistake> {
        if !(scale.fract() == 0.0 && (1.0..=MOST_WAREHOUSES).contains(&scale)) {
            return Err(Mistake(format!(
                "scale {scale}: tpcc's is its warehouses, give a whole number from 1"
            )));
        }
        let wanted = "the number of lines of every order, from 1 to 99";
        let fixed_lines = options.take::<i64>("fixed_lines", wanted)?;
        if let Some(lines) = fixed_lines.filter(|lines| !(1..=MOST_LINES).contains(lines)) {
            return Err(Mistake(format!("fixed_lines = {lines}: give {wanted}")));
        }
        options.finish("tpcc")?;
        let constants = NonUniform::of(data_seed);
        Ok(Self {
            population: Population { warehouses: scale as i64, seed: data_seed, constants },
            fixed_lines,
        })
    }

    fn terminal(&self, home: Option<u64>, random: &mut Random) -> Terminal {
        Terminal::of(self.population.warehouses, home, random)
    }
}

impl Workload for Tpcc {
    fn name(&self) -> &'static str {
        "tpcc"
    }

    fn scale(&self) -> f64 {
        self.population.warehouses as f64
    }

    fn kinds(&self) -> &'static [Kind] {
        &KINDS
    }

    fn tables(&self) -> &'static [Table] {
        &schema::TABLES
    }

    fn parts(&self) -> Vec<Part> {
        self.population.parts()
    }

    fn fill(&self, part: Part, rows: &mut dyn Rows) -> Result<(), Failure> {
        self.population.fill(part, rows)
    }

    fn draw(&self, kind: usize, random: &mut Random, home: Option<u64>) -> Box<dyn Transaction> {
        (TYPES[kind].draw)(self, random, home)
    }

    fn checks(&self) -> &'static [Check] {
        &checks::CHECKS
    }
}

/// The time of the client: one clock for all DBMSs.
fn now() -> Value {
    let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Value::Time(since_1970.as_micros() as i64)
}

/// The database lacks a row that every TPC-C database has.
fn missing(what: impl std::fmt::Display) -> Failure {
    Failure::foreign(format!("there is no {what}: the tables are not those of tpcc at this scale"))
}

#[cfg(test)]
mod tests;
