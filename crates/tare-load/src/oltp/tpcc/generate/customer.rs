//! Rows of CUSTOMER, and of HISTORY: what each has paid so far.

use super::{LOADED, Population, address};
use crate::oltp::tpcc::names::last_name;
use crate::oltp::tpcc::schema::{CUSTOMERS, DISTRICTS, place};
use crate::oltp::tpcc::text::{Chosen, Text};
use crate::oltp::{Failure, Random, Rows};

/// Customers whose last names are all there are, one each; the others' are drawn.
const NAMED: i64 = 1_000;
/// Cents.
const PAID: i64 = 1_000;

pub fn customers(of: &Population, warehouse: i64, rows: &mut dyn Rows) -> Result<(), Failure> {
    let mut text = Text::new();
    for district in 1..=DISTRICTS {
        let mut random = of.stream(place::CUSTOMER, &[warehouse, district]);
        let mut bad = Chosen::tenth_of(CUSTOMERS);
        for customer in 1..=CUSTOMERS {
            rows.int(customer);
            rows.int(district);
            rows.int(warehouse);
            person(of, customer, &mut random, &mut text, rows);
            let credit = if bad.next(&mut random) { "BC" } else { "GC" };
            account(credit, &mut random, rows);
            rows.text(text.a(&mut random, 300, 500));
            rows.end()?;
        }
    }
    Ok(())
}

/// Name, address, telephone, and since when.
fn person(of: &Population, customer: i64, random: &mut Random, text: &mut Text, rows: &mut dyn Rows) {
    rows.text(text.a(random, 8, 16));
    rows.text("OE");
    let name = if customer <= NAMED { customer - 1 } else { of.constants.last_name_loaded(random) };
    rows.text(&last_name(name));
    address(random, text, rows);
    rows.text(text.n(random, 16));
    rows.time(LOADED);
}

/// Credit and its limit, discount, balance, payments and deliveries.
fn account(credit: &str, random: &mut Random, rows: &mut dyn Rows) {
    rows.text(credit);
    rows.decimal(5_000_000, 2);
    rows.decimal(random.between(0, 5_000), 4);
    rows.decimal(-PAID, 2);
    rows.decimal(PAID, 2);
    rows.int(1);
    rows.int(0);
}

pub fn history(of: &Population, warehouse: i64, rows: &mut dyn Rows) -> Result<(), Failure> {
    let mut text = Text::new();
    for district in 1..=DISTRICTS {
        let mut random = of.stream(place::HISTORY, &[warehouse, district]);
        for customer in 1..=CUSTOMERS {
            for number in [customer, district, warehouse, district, warehouse] {
                rows.int(number);
            }
            rows.time(LOADED);
            rows.decimal(PAID, 2);
            rows.text(text.a(&mut random, 12, 24));
            rows.end()?;
        }
    }
    Ok(())
}
