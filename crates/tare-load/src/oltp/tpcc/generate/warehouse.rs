//! Rows of WAREHOUSE and DISTRICT.

use super::{Population, address};
use crate::oltp::tpcc::schema::{DISTRICTS, ORDERS, place};
use crate::oltp::tpcc::text::Text;
use crate::oltp::{Failure, Random, Rows};

/// Cents: ten a customer.
const DISTRICT_YTD: i64 = 3_000_000;

pub fn warehouses(of: &Population, rows: &mut dyn Rows) -> Result<(), Failure> {
    let mut text = Text::new();
    for warehouse in 1..=of.warehouses {
        let mut random = of.stream(place::WAREHOUSE, &[warehouse]);
        rows.int(warehouse);
        site(&mut random, &mut text, rows);
        rows.decimal(DISTRICTS * DISTRICT_YTD, 2);
        rows.end()?;
    }
    Ok(())
}

pub fn districts(of: &Population, rows: &mut dyn Rows) -> Result<(), Failure> {
    let mut text = Text::new();
    for warehouse in 1..=of.warehouses {
        for district in 1..=DISTRICTS {
            let mut random = of.stream(place::DISTRICT, &[warehouse, district]);
            rows.int(district);
            rows.int(warehouse);
            site(&mut random, &mut text, rows);
            rows.decimal(DISTRICT_YTD, 2);
            rows.int(ORDERS + 1);
            rows.end()?;
        }
    }
    Ok(())
}

/// Name, address and tax.
fn site(random: &mut Random, text: &mut Text, rows: &mut dyn Rows) {
    rows.text(text.a(random, 6, 10));
    address(random, text, rows);
    rows.decimal(random.between(0, 2_000), 4);
}
