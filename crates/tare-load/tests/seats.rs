//! SEATS on real databases.

mod workloads;

use tare_load::oltp::{Dialect, Isolation, Options, Workload, find};
use workloads::{Database, Load, Planted, each, first};

fn seats(occupied: &str) -> Box<dyn Workload> {
    let options = Options::new([("occupied".to_owned(), occupied.to_owned())].into());
    find("seats", 0.01, 42, options).unwrap()
}

fn reservations(database: &Database) -> u64 {
    let mut on = database.open(Isolation::ReadCommitted);
    first(on.as_mut(), "SELECT count(*) FROM reservation")[0].parse().unwrap()
}

#[test]
fn the_conditions_hold_before_and_after_thousands_of_transactions() {
    each(|database| {
        let workload = seats("1");
        database.load(workload.as_ref());
        database.assert_holds(workload.as_ref());
        let levels = [Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable];
        for (seed, isolation) in (1..).zip(levels) {
            let before = reservations(database);
            let tally = database.run(
                workload.as_ref(),
                isolation,
                Load { seed, threads: 4, each: 350, alike: false },
            );
            for kind in workload.kinds() {
                assert!(tally.committed(kind.name) > 30, "{}: {tally:?}", kind.name);
                assert!(kind.writes || tally.rolled_back(kind.name) == 0, "{}: {tally:?}", kind.name);
            }
            let (new, deleted) = (tally.committed("new_reservation"), tally.committed("delete_reservation"));
            assert_eq!(reservations(database), before + new - deleted);
            database.assert_holds(workload.as_ref());
        }
    });
}

#[test]
fn the_conditions_hold_when_all_want_the_same_seat_at_the_same_time() {
    each(|database| {
        let workload = seats("25");
        database.load(workload.as_ref());
        let before = reservations(database);
        let tally = database.run(
            workload.as_ref(),
            Isolation::ReadCommitted,
            Load { seed: 1, threads: 6, each: 300, alike: true },
        );
        let new = tally.committed("new_reservation");
        assert!(tally.rolled_back("new_reservation") >= new * 3, "one of six can have it: {tally:?}");
        assert_eq!(reservations(database), before + new - tally.committed("delete_reservation"));
        database.assert_holds(workload.as_ref());
    });
}

#[test]
fn a_full_flight_takes_nobody_and_can_be_left() {
    each(|database| {
        let workload = seats("100");
        database.load(workload.as_ref());
        let tally = database.run(
            workload.as_ref(),
            Isolation::ReadCommitted,
            Load { seed: 1, threads: 2, each: 150, alike: false },
        );
        assert!(tally.rolled_back("new_reservation") > 40 && tally.rolled_back("update_reservation") > 25);
        assert!(tally.committed("delete_reservation") > 10, "{tally:?}");
        database.assert_holds(workload.as_ref());
    });
}

#[test]
fn each_condition_names_the_row_that_breaks_it() {
    each(|database| {
        let workload = seats("1");
        database.load(workload.as_ref());
        database.assert_found(workload.as_ref(), &planted(database));
        database.assert_holds(workload.as_ref());
    });
}

const ATTRIBUTES: &str = "r_price, r_iattr00, r_iattr01, r_iattr02, r_iattr03, r_iattr04, r_iattr05, r_iattr06, \
                          r_iattr07, r_iattr08";

fn planted(database: &Database) -> Vec<Planted> {
    let mut on = database.open(Isolation::ReadCommitted);
    let reservation = "SELECT r_id, r_c_id, r_f_id, r_seat FROM reservation ORDER BY r_id LIMIT 1";
    let reservation = first(on.as_mut(), reservation);
    let flyer =
        "SELECT ff_c_id, ff_al_id, ff_c_id_str FROM frequent_flyer ORDER BY ff_c_id, ff_al_id LIMIT 1";
    let flyer = first(on.as_mut(), flyer);
    let [number, customer, flight, seat] = [0, 1, 2, 3].map(|place| &*reservation[place]);
    let login = |text: &str| {
        format!(
            "UPDATE frequent_flyer SET ff_c_id_str = '{text}' WHERE ff_c_id = {} AND ff_al_id = {}",
            flyer[0], flyer[1]
        )
    };
    let twice = |check, index: &str, columns: &str, selected: &str, keys: &[&str]| {
        let from = format!("SELECT {selected}, {ATTRIBUTES} FROM reservation WHERE r_id = {number}");
        let of = if on.dialect() == Dialect::MariaDb { " ON reservation" } else { "" };
        Planted {
            check,
            plant: vec![format!("DROP INDEX {index}{of}"), format!("INSERT INTO reservation {from}")],
            mend: vec![
                "DELETE FROM reservation WHERE r_id = 900000000".to_owned(),
                format!("CREATE UNIQUE INDEX {index} ON reservation ({columns})"),
            ],
            keys: owned(keys),
        }
    };
    let by_seat = twice(
        "seat_once",
        "reservation_seat_key",
        "r_f_id, r_seat",
        "900000000, 0, r_f_id, r_seat",
        &[flight, seat, "2"],
    );
    let by_customer = twice(
        "customer_once",
        "reservation_customer_key",
        "r_f_id, r_c_id",
        "900000000, r_c_id, r_f_id, r_seat + 1000",
        &[flight, customer, "2"],
    );
    let its = format!("r_id = {number}");
    let pair = "d_ap_id0 = 7 AND d_ap_id1 = 9";
    vec![
        shift("seats_left", "flight", "f_seats_left", 1, "f_id = 7", &["7"]),
        shift("seats_range", "flight", "f_seats_left", 1_000, "f_id = 7", &["7"]),
        by_seat,
        by_customer,
        shift("seat_exists", "reservation", "r_seat", 1_000, &its, &[number]),
        shift("reservation_flight", "reservation", "r_f_id", 1_000_000, &its, &[number]),
        shift("reservation_customer", "reservation", "r_c_id", 1_000_000, &its, &[number]),
        shift("flight", "flight", "f_al_id", 1_000_000, "f_id = 7", &["7"]),
        shift("customer", "customer", "c_base_ap_id", 1_000_000, "c_id = 7", &["7"]),
        Planted {
            check: "frequent_flyer",
            plant: vec![login("nobody")],
            mend: vec![login(&flyer[2])],
            keys: owned(&[&flyer[0], &flyer[1]]),
        },
        shift("country", "airline", "al_co_id", 1_000_000, "al_id = 7", &["airline", "7"]),
        shift("airport_distance", "airport_distance", "d_distance", 1, pair, &["7", "9"]),
    ]
}

/// A number is planted by adding to it, and mended by taking that away.
fn shift(check: &'static str, table: &str, column: &str, by: i64, which: &str, keys: &[&str]) -> Planted {
    let moved = |by: i64| vec![format!("UPDATE {table} SET {column} = {column} + {by} WHERE {which}")];
    Planted { check, plant: moved(by), mend: moved(-by), keys: owned(keys) }
}

fn owned(keys: &[&str]) -> Vec<String> {
    keys.iter().map(|key| (*key).to_owned()).collect()
}
