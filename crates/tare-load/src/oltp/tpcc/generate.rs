//! The initial population (clause 4.3.3).
//!
//! The specification stamps rows with the time of their loading; here it is the same instant for every load, since the
//! same seed owes the same rows.

mod customer;
mod item;
mod order;
mod warehouse;

use crate::oltp::tpcc::nurand::NonUniform;
use crate::oltp::tpcc::schema::{CUSTOMERS, DISTRICTS, ITEMS, LINES, ORDERS, place};
use crate::oltp::tpcc::text::Text;
use crate::oltp::{Failure, Part, Random, Rows};

/// 11 February 2010, the day of revision 5.11.
const LOADED: i64 = 1_265_846_400_000_000;

/// A part that holds the rows of all warehouses; otherwise a part's number is its warehouse.
const ALL: u64 = 0;

/// What rows are made from.
pub struct Population {
    /// In all.
    pub warehouses: i64,
    /// Of the data.
    pub seed: u64,
    /// Of the same seed.
    pub constants: NonUniform,
}

impl Population {
    /// Small tables whole, large ones by the warehouse.
    pub fn parts(&self) -> Vec<Part> {
        let all = |table, rows: i64| Part { table, number: ALL, rows: rows.unsigned_abs() };
        let whole = [
            all(place::ITEM, ITEMS),
            all(place::WAREHOUSE, self.warehouses),
            all(place::DISTRICT, self.warehouses * DISTRICTS),
        ];
        whole.into_iter().chain((1..=self.warehouses).flat_map(of_warehouse)).collect()
    }

    /// Writes a part's rows.
    pub fn fill(&self, part: Part, rows: &mut dyn Rows) -> Result<(), Failure> {
        let warehouse = part.number as i64;
        match part.table {
            place::WAREHOUSE => warehouse::warehouses(self, rows),
            place::DISTRICT => warehouse::districts(self, rows),
            place::CUSTOMER => customer::customers(self, warehouse, rows),
            place::HISTORY => customer::history(self, warehouse, rows),
            place::NEW_ORDER => order::new_orders(warehouse, rows),
            place::ORDERS => order::orders(self, warehouse, rows),
            place::ORDER_LINE => order::lines(self, warehouse, rows),
            place::ITEM => item::items(self, rows),
            _ => item::stock(self, warehouse, rows),
        }
    }

    fn stream(&self, table: usize, path: &[i64]) -> Random {
        let path: Vec<u64> = [table as i64].iter().chain(path).map(|step| *step as u64).collect();
        Random::at(self.seed, &path)
    }
}

/// The dearest first.
fn of_warehouse(warehouse: i64) -> [Part; 6] {
    let lines = (LINES.0 + LINES.1) / 2 * ORDERS;
    [
        (place::ORDER_LINE, lines * DISTRICTS),
        (place::STOCK, ITEMS),
        (place::CUSTOMER, CUSTOMERS * DISTRICTS),
        (place::ORDERS, ORDERS * DISTRICTS),
        (place::HISTORY, CUSTOMERS * DISTRICTS),
        (place::NEW_ORDER, order::NEW * DISTRICTS),
    ]
    .map(|(table, rows)| Part { table, number: warehouse.unsigned_abs(), rows: rows.unsigned_abs() })
}

/// Two streets, a city, a state and a ZIP code.
fn address(random: &mut Random, text: &mut Text, rows: &mut dyn Rows) {
    for _ in 0..3 {
        rows.text(text.a(random, 10, 20));
    }
    rows.text(text.state(random));
    rows.text(text.zip(random));
}

#[cfg(test)]
mod tests;
