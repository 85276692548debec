//! TATP.

use std::collections::BTreeMap;

use tare_load::oltp::{Mistake, Options, Value, find};

use crate::harness::{Planted, Sending, filled, heard, workload};
use crate::servers::each_alone;

const SUBSCRIBER: usize = 0;
const ACCESS_INFO: usize = 1;
const SPECIAL_FACILITY: usize = 2;
const CALL_FORWARDING: usize = 3;

/// How often each value stands in it.
fn counted<T: Ord>(values: impl IntoIterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    values.into_iter().for_each(|value| *counts.entry(value).or_default() += 1);
    counts
}

/// Each of these is as frequent as the next, within a tenth.
fn even<T: Ord>(counts: &BTreeMap<T, usize>, values: usize) -> bool {
    let due = counts.values().sum::<usize>() as f64 / values as f64;
    counts.len() == values && counts.values().all(|count| (*count as f64 / due - 1.0).abs() < 0.1)
}

#[test]
fn scale_counts_hundreds_of_thousands_of_subscribers() {
    for (scale, subscribers) in [(0.001, 100), (0.25, 25_000)] {
        let tatp = workload("tatp", scale, &[]);
        assert_eq!(filled(&*tatp)[SUBSCRIBER].ints(0), (1..=subscribers).collect::<Vec<_>>());
    }
    let small = find("tatp", 0.0001, 1, Options::default()).err().unwrap();
    assert!(small.0.starts_with("scale = 0.0001: give hundreds of thousands of subscribers"), "{}", small.0);
}

#[test]
fn parts_say_about_how_many_rows_they_have() {
    let tatp = workload("tatp", 0.25, &[]);
    let tables = filled(&*tatp);
    for (number, table) in tables.iter().enumerate() {
        let said: u64 = tatp.parts().iter().filter(|part| part.table == number).map(|part| part.rows).sum();
        assert!((table.rows.len() as f64 / said as f64 - 1.0).abs() < 0.02, "{}", tatp.tables()[number].name);
    }
}

#[test]
fn what_a_subscriber_has_is_spread_as_the_description_says() {
    let tables = filled(&*workload("tatp", 0.2, &[]));
    for table in [ACCESS_INFO, SPECIAL_FACILITY] {
        let of_each = counted(tables[table].ints(0));
        assert_eq!(of_each.len(), 20_000, "none has nothing");
        assert!(even(&counted(of_each.into_values()), 4), "1 to 4 of them, alike");
        assert!(even(&counted(tables[table].ints(1)), 4), "types 1 to 4, alike");
    }
    let active: i64 = tables[SPECIAL_FACILITY].ints(2).iter().sum();
    assert!((active as f64 / tables[SPECIAL_FACILITY].rows.len() as f64 - 0.85).abs() < 0.01);
}

#[test]
fn calls_are_forwarded_by_facilities_that_are_there_and_at_hours_that_are_drawn() {
    let tables = filled(&*workload("tatp", 0.2, &[]));
    let keys = |table: usize| tables[table].ints(0).into_iter().zip(tables[table].ints(1));
    let facilities = counted(keys(SPECIAL_FACILITY));
    let forwarded = counted(keys(CALL_FORWARDING));
    assert!(forwarded.keys().all(|key| facilities.contains_key(key)));
    let of_each = facilities.keys().map(|key| forwarded.get(key).copied().unwrap_or(0));
    assert!(even(&counted(of_each), 4), "0 to 3 of them, alike");
    let (starts, ends) = (tables[CALL_FORWARDING].ints(2), tables[CALL_FORWARDING].ints(3));
    assert!(even(&counted(starts.iter().copied()), 3));
    let hours = counted(starts.iter().zip(&ends).map(|(start, end)| end - start));
    assert!(even(&hours, 8) && hours.contains_key(&1) && hours.contains_key(&8));
}

#[test]
fn fields_are_drawn_from_all_their_range() {
    let tables = filled(&*workload("tatp", 0.2, &[]));
    for (columns, values) in [(2..12, 2), (12..22, 16), (22..32, 256)] {
        for column in columns {
            let seen = counted(tables[SUBSCRIBER].ints(column));
            assert_eq!(
                (seen.len(), *seen.keys().last().unwrap()),
                (values, values as i64 - 1),
                "column {column}"
            );
        }
    }
    let locations = tables[SUBSCRIBER].ints(32);
    assert!(locations.iter().all(|place| (1..=4_294_967_295).contains(place)));
    assert!(locations.iter().any(|place| *place > i64::from(i32::MAX)));
    assert_eq!(tables[SUBSCRIBER].rows[41][1], Value::from("000000000000042"));
}

#[test]
fn one_seed_makes_and_draws_the_same_and_another_does_not() {
    let data = |seed| filled(&*find("tatp", 0.001, seed, Options::default()).unwrap());
    assert_eq!(data(1), data(1));
    assert_ne!(data(1), data(2));
    let drawn = |seed| heard(&*workload("tatp", 0.01, &[]), seed, 700);
    assert_eq!(drawn(1), drawn(1));
    assert_ne!(drawn(1), drawn(2));
}

#[test]
fn the_mix_is_the_description_s() {
    let tatp = workload("tatp", 0.001, &[]);
    let shares: Vec<_> = tatp.kinds().iter().map(|kind| (kind.name, kind.share)).collect();
    assert_eq!(shares.iter().map(|(_, share)| share).sum::<f64>(), 100.0);
    let reads: f64 = tatp.kinds().iter().filter(|kind| !kind.writes).map(|kind| kind.share).sum();
    assert_eq!((reads, shares[5]), (80.0, ("update_location", 14.0)));
    let given = [("core".to_owned(), "a".to_owned())].into();
    let refused = find("tatp", 1.0, 1, Options::new(given)).err().unwrap();
    assert_eq!(refused, Mistake("tatp has no option core; it has: none".into()));
}

/// 14.8% for `get_new_destination`: the description says 23.9%, its rules do not (see `get_new_destination.rs`).
#[test]
fn each_transaction_succeeds_as_often_as_the_rules_of_the_population_have_it() {
    each_alone(|server| {
        let tatp = workload("tatp", 0.1, &[]);
        server.load(&*tatp);
        for (kind, due) in [
            ("get_subscriber_data", 1.0),
            ("update_location", 1.0),
            ("get_access_data", 0.625),
            ("update_subscriber_data", 0.625),
            ("insert_call_forwarding", 0.3125),
            ("delete_call_forwarding", 0.3125),
            ("get_new_destination", 0.1479),
        ] {
            let seen = server.success(&*tatp, kind, 4000);
            assert!(
                if due == 1.0 { seen == due } else { (seen - due).abs() < 0.025 },
                "{kind}: {seen}, due {due}"
            );
        }
    });
}

#[test]
fn thousands_of_transactions_from_several_threads_leave_every_condition_true() {
    each_alone(|server| {
        let tatp = workload("tatp", 0.01, &[]);
        server.load(&*tatp);
        server.assert_whole(&*tatp);
        let before = server.number("SELECT count(*) FROM call_forwarding");
        let tally = server.run(&*tatp, Sending::new(5, 4, 1500));
        assert_eq!(tally.sums().iter().sum::<u64>(), 6000);
        assert_eq!(tally.rolled_back("get_subscriber_data"), 0);
        let inserted = tally.committed("insert_call_forwarding");
        let deleted = tally.committed("delete_call_forwarding");
        assert!(inserted > 10 && deleted > 10, "{tally:?}");
        assert_eq!(server.number("SELECT count(*) FROM call_forwarding"), before + inserted - deleted);
        server.assert_whole(&*tatp);
    });
}

#[test]
fn each_condition_names_the_row_that_breaks_it() {
    let one = Planted::new;
    let forwarded = |values| format!("INSERT INTO call_forwarding VALUES ({values})");
    let nowhere = "INSERT INTO access_info VALUES (501, 1, 0, 0, 'AAA', 'AAAAA')";
    let nobody_s = "INSERT INTO special_facility VALUES (502, 2, 1, 0, 0, 'AAAAA')";
    let no_facility = forwarded("503, 1, 0, 8, '000000000000000'");
    let too_late = forwarded("502, 2, 16, 25, '000000000000000'");
    let too_short = forwarded("502, 2, 8, 9, '12'");
    let planted = [
        one("subscriber_ids", "DELETE FROM subscriber WHERE s_id = 1", &["2", "100", "99"]),
        one("subscriber_numbers", "UPDATE subscriber SET sub_nbr = '7' WHERE s_id = 7", &["7", "7"]),
        one("subscriber_fields", "UPDATE subscriber SET byte2_10 = 256 WHERE s_id = 8", &["8"]),
        one("access_info_counts", "DELETE FROM access_info WHERE s_id = 2", &["2", "0"]),
        one("access_info_subscribers", nowhere, &["501", "1"]),
        one("access_info_fields", "UPDATE access_info SET data3 = 'A' WHERE s_id = 3", &["3"]),
        one("special_facility_counts", "DELETE FROM special_facility WHERE s_id = 4", &["4", "0"]),
        one("special_facility_subscribers", nobody_s, &["502", "2"]),
        one("special_facility_fields", "UPDATE special_facility SET is_active = 2 WHERE s_id = 5", &["5"]),
        one("call_forwarding_facilities", &no_facility, &["503", "1", "0"]),
        one("call_forwarding_hours", &too_late, &["502", "2", "16", "25"]),
        one("call_forwarding_numbers", &too_short, &["502", "2", "8", "12"]),
    ];
    each_alone(|server| {
        let tatp = workload("tatp", 0.001, &[]);
        server.load(&*tatp);
        server.assert_found(&*tatp, &planted);
    });
}
