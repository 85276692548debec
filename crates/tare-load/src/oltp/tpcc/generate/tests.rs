//! One warehouse's rows, held against clause 4.3.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use super::*;
use crate::oltp::kept::Kept;
use crate::oltp::tpcc::names::last_name;
use crate::oltp::tpcc::schema::{DELIVERED, TABLES};
use crate::oltp::{Row, Type, Value};

fn population(warehouses: i64, seed: u64) -> Population {
    Population { warehouses, seed, constants: NonUniform::of(seed) }
}

fn made(of: &Population, table: usize, number: u64) -> Vec<Row> {
    let mut kept = Kept::default();
    of.fill(Part { table, number, rows: 0 }, &mut kept).unwrap();
    kept.rows.into_iter().map(Row).collect()
}

static ONE: LazyLock<Vec<Vec<Row>>> = LazyLock::new(|| {
    let of = population(1, 42);
    (0..TABLES.len()).map(|table| of.parts().into_iter().find(|part| part.table == table).unwrap()).fold(
        Vec::new(),
        |mut all, part| {
            all.push(made(&of, part.table, part.number));
            all
        },
    )
});

/// Values of a column, by its name.
fn column(table: usize, name: &str) -> impl Iterator<Item = &'static Value> {
    let place = TABLES[table].columns.iter().position(|column| column.name == name).unwrap();
    ONE[table].iter().map(move |row| &row.0[place])
}

fn ints(table: usize, name: &str) -> Vec<i64> {
    column(table, name)
        .map(|value| match value {
            Value::Int(number) | Value::Decimal { unscaled: number, .. } => *number,
            other => panic!("{name}: {other:?}"),
        })
        .collect()
}

fn texts(table: usize, name: &str) -> Vec<&'static str> {
    column(table, name)
        .map(|value| match value {
            Value::Text(text) => text.as_str(),
            other => panic!("{name}: {other:?}"),
        })
        .collect()
}

fn range(numbers: impl IntoIterator<Item = i64>) -> (i64, i64) {
    numbers.into_iter().fold((i64::MAX, i64::MIN), |(low, high), number| (low.min(number), high.max(number)))
}

fn lengths(table: usize, name: &str) -> (i64, i64) {
    range(texts(table, name).iter().map(|text| text.len() as i64))
}

#[test]
fn every_table_has_its_number_of_rows() {
    let rows: Vec<_> = ONE.iter().map(Vec::len).collect();
    assert_eq!(rows[..6], [1, 10, 30_000, 30_000, 9_000, 30_000]);
    assert!((298_000..302_000).contains(&rows[place::ORDER_LINE]), "{}", rows[place::ORDER_LINE]);
    assert_eq!(rows[7..], [100_000, 100_000]);
}

#[test]
fn every_field_is_of_its_columns_type_and_fits_it() {
    for (table, rows) in TABLES.iter().zip(ONE.iter()) {
        for row in rows {
            assert_eq!(row.0.len(), table.columns.len(), "{}", table.name);
            for (column, value) in table.columns.iter().zip(&row.0) {
                let fits = match (value, column.kind) {
                    (Value::Null, _) => column.nullable,
                    (Value::Int(number), Type::Int) => i32::try_from(*number).is_ok(),
                    (Value::Decimal { unscaled, scale }, Type::Decimal(digits, behind)) => {
                        *scale == behind && unscaled.abs() < 10_i64.pow(digits.into())
                    }
                    (Value::Text(text), Type::Char(length)) => text.len() == usize::from(length),
                    (Value::Text(text), Type::Varchar(length)) => text.len() <= usize::from(length),
                    (Value::Time(_), Type::Time) => true,
                    _ => false,
                };
                assert!(fits, "{}.{}: {value:?}", table.name, column.name);
            }
        }
    }
}

#[test]
fn primary_keys_are_unique() {
    for (table, rows) in TABLES.iter().zip(ONE.iter()).filter(|(table, _)| !table.primary_key.is_empty()) {
        let places: Vec<_> = table
            .primary_key
            .iter()
            .map(|key| table.columns.iter().position(|column| column.name == *key).unwrap())
            .collect();
        let keys: HashSet<Vec<i64>> =
            rows.iter().map(|row| places.iter().map(|place| row.int(*place).unwrap()).collect()).collect();
        assert_eq!(keys.len(), rows.len(), "{}", table.name);
    }
}

#[test]
fn numbers_fill_the_ranges_of_the_specification() {
    for (table, name, expected) in [
        (place::ITEM, "i_im_id", (1, 10_000)),
        (place::ITEM, "i_price", (100, 10_000)),
        (place::STOCK, "s_quantity", (10, 100)),
        (place::STOCK, "s_ytd", (0, 0)),
        (place::CUSTOMER, "c_discount", (0, 5_000)),
        (place::CUSTOMER, "c_credit_lim", (5_000_000, 5_000_000)),
        (place::CUSTOMER, "c_balance", (-1_000, -1_000)),
        (place::CUSTOMER, "c_ytd_payment", (1_000, 1_000)),
        (place::CUSTOMER, "c_payment_cnt", (1, 1)),
        (place::CUSTOMER, "c_delivery_cnt", (0, 0)),
        (place::HISTORY, "h_amount", (1_000, 1_000)),
        (place::ORDERS, "o_ol_cnt", (5, 15)),
        (place::ORDERS, "o_all_local", (1, 1)),
        (place::ORDER_LINE, "ol_quantity", (5, 5)),
        (place::ORDER_LINE, "ol_supply_w_id", (1, 1)),
        (place::NEW_ORDER, "no_o_id", (2_101, 3_000)),
        (place::DISTRICT, "d_next_o_id", (3_001, 3_001)),
        (place::DISTRICT, "d_ytd", (3_000_000, 3_000_000)),
        (place::WAREHOUSE, "w_ytd", (30_000_000, 30_000_000)),
    ] {
        assert_eq!(range(ints(table, name)), expected, "{name}");
    }
    let taxes = range(ints(place::DISTRICT, "d_tax").into_iter().chain(ints(place::WAREHOUSE, "w_tax")));
    assert!(taxes.0 >= 0 && taxes.1 <= 2_000, "{taxes:?}");
}

#[test]
fn strings_are_as_long_as_the_specification_says() {
    for (table, name, expected) in [
        (place::ITEM, "i_name", (14, 24)),
        (place::ITEM, "i_data", (26, 50)),
        (place::STOCK, "s_data", (26, 50)),
        (place::STOCK, "s_dist_07", (24, 24)),
        (place::CUSTOMER, "c_first", (8, 16)),
        (place::CUSTOMER, "c_street_1", (10, 20)),
        (place::CUSTOMER, "c_data", (300, 500)),
        (place::CUSTOMER, "c_phone", (16, 16)),
        (place::HISTORY, "h_data", (12, 24)),
        (place::ORDER_LINE, "ol_dist_info", (24, 24)),
    ] {
        assert_eq!(lengths(table, name), expected, "{name}");
    }
    let names = lengths(place::DISTRICT, "d_name");
    assert!(names.0 >= 6 && names.1 <= 10, "{names:?}");
    assert!(texts(place::CUSTOMER, "c_phone").iter().all(|phone| phone.bytes().all(|b| b.is_ascii_digit())));
    assert!(texts(place::CUSTOMER, "c_zip").iter().all(|zip| zip.ends_with("11111")));
    assert!(texts(place::CUSTOMER, "c_middle").iter().all(|middle| *middle == "OE"));
}

#[test]
fn a_tenth_is_original_and_a_tenth_of_the_customers_has_bad_credit() {
    for (table, name) in [(place::ITEM, "i_data"), (place::STOCK, "s_data")] {
        let marked = texts(table, name).iter().filter(|data| data.contains("ORIGINAL")).count();
        assert_eq!(marked, 10_000, "{name}");
    }
    let credits = texts(place::CUSTOMER, "c_credit");
    for district in credits.chunks(3_000) {
        assert_eq!(district.iter().filter(|credit| **credit == "BC").count(), 300);
        assert_eq!(district.iter().filter(|credit| **credit == "GC").count(), 2_700);
    }
}

#[test]
fn the_first_thousand_customers_of_a_district_bear_all_last_names_and_the_rest_some_more_than_others() {
    let all: Vec<_> = (0..1_000).map(last_name).collect();
    for district in texts(place::CUSTOMER, "c_last").chunks(3_000) {
        assert!(district.iter().zip(&all).all(|(found, name)| found == name));
        let mut bearers = HashMap::new();
        district[1_000..].iter().for_each(|name| *bearers.entry(*name).or_insert(0) += 1);
        assert!(*bearers.values().max().unwrap() >= 12, "uniform would be two each");
    }
}

#[test]
fn every_customer_of_a_district_has_one_order_and_not_in_their_order() {
    let customers = ints(place::ORDERS, "o_c_id");
    for district in customers.chunks(3_000) {
        assert_eq!(district.iter().collect::<HashSet<_>>().len(), 3_000);
        assert_eq!(range(district.iter().copied()), (1, 3_000));
        assert!(!district.is_sorted());
    }
    assert_ne!(customers[..3_000], customers[3_000..6_000]);
}

#[test]
fn the_last_nine_hundred_orders_of_a_district_are_new_and_the_others_delivered() {
    let carriers = range(column(place::ORDERS, "o_carrier_id").filter_map(|carrier| match carrier {
        Value::Int(number) => Some(*number),
        _ => None,
    }));
    assert_eq!(carriers, (1, 10));
    for row in &ONE[place::ORDERS] {
        assert_eq!(row.is_null(5), row.int(0).unwrap() > DELIVERED);
    }
    for row in &ONE[place::ORDER_LINE] {
        let (is_new, amount) = (row.int(0).unwrap() > DELIVERED, row.decimal(8, 2).unwrap());
        assert_eq!(row.is_null(6), is_new);
        assert!(if is_new { (1..=999_999).contains(&amount) } else { amount == 0 });
        assert!(is_new || row.time(6).unwrap() == LOADED);
    }
}

#[test]
fn orders_have_as_many_lines_as_they_say_numbered_from_one() {
    let mut lines: BTreeMap<(i64, i64), Vec<i64>> = BTreeMap::new();
    for row in &ONE[place::ORDER_LINE] {
        lines.entry((row.int(1).unwrap(), row.int(0).unwrap())).or_default().push(row.int(3).unwrap());
    }
    assert_eq!(lines.len(), 30_000);
    for row in &ONE[place::ORDERS] {
        let found = &lines[&(row.int(1).unwrap(), row.int(0).unwrap())];
        assert!(found.iter().copied().eq(1..=row.int(6).unwrap()));
    }
}

#[test]
fn a_part_is_the_same_whenever_it_is_made_and_another_for_another_seed_or_warehouse() {
    let (two, other_seed) = (population(2, 42), population(2, 43));
    for table in [place::CUSTOMER, place::ORDERS, place::ORDER_LINE, place::STOCK] {
        assert_eq!(made(&two, table, 1), ONE[table], "{}", TABLES[table].name);
        assert_ne!(made(&other_seed, table, 1), ONE[table]);
    }
    assert_eq!(made(&two, place::ITEM, ALL), ONE[place::ITEM], "items do not depend on the scale");
    let data = |warehouse| made(&two, place::STOCK, warehouse)[0].text(3).unwrap().to_owned();
    assert_ne!(data(1), data(2));
}

#[test]
fn parts_cover_every_warehouse_once_and_know_about_how_large_they_are() {
    let parts = population(3, 1).parts();
    assert_eq!(parts.iter().map(|part| (part.table, part.number)).collect::<HashSet<_>>().len(), parts.len());
    assert_eq!(parts.len(), 3 + 3 * 6);
    for part in population(1, 42).parts() {
        let found = ONE[part.table].len() as f64;
        assert!((part.rows as f64 / found - 1.0).abs() < 0.01, "{part:?}: {found}");
    }
}
