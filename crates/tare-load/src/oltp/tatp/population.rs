//! A subscriber and all that belongs to it. Each table's rows are drawn from a stream of the subscriber's own, so that
//! tables can be filled apart from each other and in any order.

use crate::oltp::tatp::schema;
use crate::oltp::tatp::value::{STARTS, TYPES, byte, letters, location, numberx, some, sub_nbr};
use crate::oltp::{Failure, Random, Rows};

/// Streams below the seed.
const SUBSCRIBER: u64 = 0;
const ACCESS_INFO: u64 = 1;
const SPECIAL_FACILITY: u64 = 2;
const FACILITY_TYPES: u64 = 3;
const CALL_FORWARDING: u64 = 4;

/// The rows of one subscriber in one table.
pub fn fill(table: usize, seed: u64, s_id: i64, rows: &mut dyn Rows) -> Result<(), Failure> {
    let of = |stream| Random::at(seed, &[stream, s_id as u64]);
    match table {
        schema::SUBSCRIBER => subscriber(s_id, &mut of(SUBSCRIBER), rows),
        schema::ACCESS_INFO => access_info(s_id, &mut of(ACCESS_INFO), rows),
        schema::SPECIAL_FACILITY => {
            special_facility(s_id, &types(&mut of(FACILITY_TYPES)), &mut of(SPECIAL_FACILITY), rows)
        }
        _ => call_forwarding(s_id, &types(&mut of(FACILITY_TYPES)), &mut of(CALL_FORWARDING), rows),
    }
}

/// One to four of the four, each number of them in a quarter of all cases.
fn types(random: &mut Random) -> Vec<i64> {
    let count = random.between(1, 4) as usize;
    some(TYPES, count, random)
}

fn subscriber(s_id: i64, random: &mut Random, rows: &mut dyn Rows) -> Result<(), Failure> {
    rows.int(s_id);
    rows.text(&sub_nbr(s_id));
    for highest in [1, 15, 255] {
        (0..10).for_each(|_| rows.int(random.between(0, highest)));
    }
    rows.int(location(random));
    rows.int(location(random));
    rows.end()
}

fn access_info(s_id: i64, random: &mut Random, rows: &mut dyn Rows) -> Result<(), Failure> {
    for ai_type in types(random) {
        rows.int(s_id);
        rows.int(ai_type);
        rows.int(byte(random));
        rows.int(byte(random));
        rows.text(&letters(3, random));
        rows.text(&letters(5, random));
        rows.end()?;
    }
    Ok(())
}

fn special_facility(
    s_id: i64,
    types: &[i64],
    random: &mut Random,
    rows: &mut dyn Rows,
) -> Result<(), Failure> {
    for sf_type in types {
        rows.int(s_id);
        rows.int(*sf_type);
        rows.int(random.percent(85.0).into());
        rows.int(byte(random));
        rows.int(byte(random));
        rows.text(&letters(5, random));
        rows.end()?;
    }
    Ok(())
}

/// None to three of each facility, each number of them in a quarter of all cases.
fn call_forwarding(
    s_id: i64,
    types: &[i64],
    random: &mut Random,
    rows: &mut dyn Rows,
) -> Result<(), Failure> {
    for sf_type in types {
        let count = random.between(0, 3) as usize;
        for start_time in some(STARTS, count, random) {
            rows.int(s_id);
            rows.int(*sf_type);
            rows.int(start_time);
            rows.int(start_time + random.between(1, 8));
            rows.text(&numberx(random));
            rows.end()?;
        }
    }
    Ok(())
}
