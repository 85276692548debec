//! Rows of ORDER, ORDER-LINE and NEW-ORDER.
//!
//! They are written apart from each other; how many lines an order has is drawn from a stream of the order's own.

use super::{LOADED, Population};
use crate::oltp::tpcc::schema::{CUSTOMERS, DELIVERED, DISTRICTS, ITEMS, LINES, ORDERS, place};
use crate::oltp::tpcc::text::Text;
use crate::oltp::{Failure, Random, Rows};

/// Orders of a district that are not delivered yet.
pub const NEW: i64 = ORDERS - DELIVERED;

/// Apart from every order's stream.
const PERMUTATION: i64 = 0;

pub fn orders(of: &Population, warehouse: i64, rows: &mut dyn Rows) -> Result<(), Failure> {
    for district in 1..=DISTRICTS {
        let customers = permuted(&mut of.stream(place::ORDERS, &[warehouse, district, PERMUTATION]));
        for (order, customer) in (1..=ORDERS).zip(customers) {
            let (lines, mut random) = line_count(of, warehouse, district, order);
            for number in [order, district, warehouse, customer] {
                rows.int(number);
            }
            rows.time(LOADED);
            match order {
                ..=DELIVERED => rows.int(random.between(1, 10)),
                _ => rows.null(),
            }
            rows.int(lines);
            rows.int(1);
            rows.end()?;
        }
    }
    Ok(())
}

pub fn lines(of: &Population, warehouse: i64, rows: &mut dyn Rows) -> Result<(), Failure> {
    let mut text = Text::new();
    for district in 1..=DISTRICTS {
        let mut random = of.stream(place::ORDER_LINE, &[warehouse, district]);
        for order in 1..=ORDERS {
            let (lines, _) = line_count(of, warehouse, district, order);
            for line in 1..=lines {
                for number in [order, district, warehouse, line, random.between(1, ITEMS), warehouse] {
                    rows.int(number);
                }
                delivery(order <= DELIVERED, &mut random, rows);
                rows.text(text.a(&mut random, 24, 24));
                rows.end()?;
            }
        }
    }
    Ok(())
}

/// When, how many, and for how much.
fn delivery(delivered: bool, random: &mut Random, rows: &mut dyn Rows) {
    if delivered {
        rows.time(LOADED);
    } else {
        rows.null();
    }
    rows.int(5);
    rows.decimal(if delivered { 0 } else { random.between(1, 999_999) }, 2);
}

pub fn new_orders(warehouse: i64, rows: &mut dyn Rows) -> Result<(), Failure> {
    for district in 1..=DISTRICTS {
        for order in DELIVERED + 1..=ORDERS {
            for number in [order, district, warehouse] {
                rows.int(number);
            }
            rows.end()?;
        }
    }
    Ok(())
}

/// And the stream that the rest of the order is drawn from.
fn line_count(of: &Population, warehouse: i64, district: i64, order: i64) -> (i64, Random) {
    let mut random = of.stream(place::ORDERS, &[warehouse, district, order]);
    (random.between(LINES.0, LINES.1), random)
}

/// All customers of a district, in any order, each as likely as the next (Fisher and Yates).
fn permuted(random: &mut Random) -> Vec<i64> {
    let mut customers: Vec<i64> = (1..=CUSTOMERS).collect();
    for last in (1..customers.len()).rev() {
        customers.swap(last, random.below(last as u64 + 1) as usize);
    }
    customers
}
