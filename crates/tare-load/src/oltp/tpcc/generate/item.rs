//! Rows of ITEM, and of STOCK: an item's at a warehouse.

use super::Population;
use crate::oltp::tpcc::schema::{DISTRICTS, ITEMS, place};
use crate::oltp::tpcc::text::{Chosen, Text};
use crate::oltp::{Failure, Rows};

pub fn items(of: &Population, rows: &mut dyn Rows) -> Result<(), Failure> {
    let mut random = of.stream(place::ITEM, &[]);
    let mut text = Text::new();
    let mut original = Chosen::tenth_of(ITEMS);
    for item in 1..=ITEMS {
        rows.int(item);
        rows.int(random.between(1, 10_000));
        rows.text(text.a(&mut random, 14, 24));
        rows.decimal(random.between(100, 10_000), 2);
        let is_original = original.next(&mut random);
        rows.text(text.data(&mut random, is_original));
        rows.end()?;
    }
    Ok(())
}

pub fn stock(of: &Population, warehouse: i64, rows: &mut dyn Rows) -> Result<(), Failure> {
    let mut random = of.stream(place::STOCK, &[warehouse]);
    let mut text = Text::new();
    let mut original = Chosen::tenth_of(ITEMS);
    for item in 1..=ITEMS {
        rows.int(item);
        rows.int(warehouse);
        rows.int(random.between(10, 100));
        for _ in 0..DISTRICTS {
            rows.text(text.a(&mut random, 24, 24));
        }
        for _ in ["s_ytd", "s_order_cnt", "s_remote_cnt"] {
            rows.int(0);
        }
        let is_original = original.next(&mut random);
        rows.text(text.data(&mut random, is_original));
        rows.end()?;
    }
    Ok(())
}
