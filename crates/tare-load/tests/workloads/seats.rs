//! SEATS.

use tare_load::oltp::{Dialect, Isolation, Workload};

use crate::harness::{Planted, Sending, workload};
use crate::servers::{Server, each_alone};

/// Percent of the seats.
fn occupied(percent: &str) -> Box<dyn Workload> {
    workload("seats", 0.01, &[("occupied", percent)])
}

fn reservations(server: &Server) -> u64 {
    server.number("SELECT count(*) FROM reservation")
}

#[test]
fn the_conditions_hold_before_and_after_thousands_of_transactions() {
    each_alone(|server| {
        let seats = occupied("1");
        server.load(&*seats);
        server.assert_whole(&*seats);
        let levels = [Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable];
        for (seed, isolation) in (1..).zip(levels) {
            let before = reservations(server);
            let tally = server.run(&*seats, Sending::new(seed, 4, 350).at(isolation));
            for kind in seats.kinds() {
                assert!(tally.committed(kind.name) > 30, "{}: {tally:?}", kind.name);
                assert!(kind.writes || tally.rolled_back(kind.name) == 0, "{}: {tally:?}", kind.name);
            }
            let (new, deleted) = (tally.committed("new_reservation"), tally.committed("delete_reservation"));
            assert_eq!(reservations(server), before + new - deleted);
            server.assert_whole(&*seats);
        }
    });
}

#[test]
fn the_conditions_hold_when_all_want_the_same_seat_at_the_same_time() {
    each_alone(|server| {
        let seats = occupied("25");
        server.load(&*seats);
        let before = reservations(server);
        let tally = server.run(&*seats, Sending::new(1, 6, 300).alike());
        let new = tally.committed("new_reservation");
        assert!(tally.rolled_back("new_reservation") >= new * 3, "one of six can have it: {tally:?}");
        assert_eq!(reservations(server), before + new - tally.committed("delete_reservation"));
        server.assert_whole(&*seats);
    });
}

#[test]
fn a_full_flight_takes_nobody_and_can_be_left() {
    each_alone(|server| {
        let seats = occupied("100");
        server.load(&*seats);
        let tally = server.run(&*seats, Sending::new(1, 2, 150));
        assert!(tally.rolled_back("new_reservation") > 40 && tally.rolled_back("update_reservation") > 25);
        assert!(tally.committed("delete_reservation") > 10, "{tally:?}");
        server.assert_whole(&*seats);
    });
}

#[test]
fn each_condition_names_the_row_that_breaks_it() {
    each_alone(|server| {
        let seats = occupied("1");
        server.load(&*seats);
        server.assert_found(&*seats, &planted(server));
    });
}

fn planted(server: &Server) -> Vec<Planted> {
    let reservation =
        server.first("SELECT r_id, r_c_id, r_f_id, r_seat FROM reservation ORDER BY r_id LIMIT 1");
    let [number, customer, flight, seat] = [0, 1, 2, 3].map(|place| &*reservation[place]);
    let flyer =
        server.first("SELECT ff_c_id, ff_al_id FROM frequent_flyer ORDER BY ff_c_id, ff_al_id LIMIT 1");
    let nobody = format!(
        "UPDATE frequent_flyer SET ff_c_id_str = 'nobody' WHERE ff_c_id = {} AND ff_al_id = {}",
        flyer[0], flyer[1]
    );
    let by_seat = Key { index: "reservation_seat_key", columns: "r_f_id, r_seat" };
    let by_customer = Key { index: "reservation_customer_key", columns: "r_f_id, r_c_id" };
    let dialect = server.open().dialect();
    let its = format!("r_id = {number}");
    let pair = "d_ap_id0 = 7 AND d_ap_id1 = 9";
    vec![
        moved("seats_left", "flight", "f_seats_left", 1, "f_id = 7", &["7"]),
        moved("seats_range", "flight", "f_seats_left", 1_000, "f_id = 7", &["7"]),
        twice("seat_once", number, "0, r_f_id, r_seat", &[flight, seat, "2"], by_seat, dialect),
        twice(
            "customer_once",
            number,
            "r_c_id, r_f_id, r_seat + 1000",
            &[flight, customer, "2"],
            by_customer,
            dialect,
        ),
        moved("seat_exists", "reservation", "r_seat", 1_000, &its, &[number]),
        moved("reservation_flight", "reservation", "r_f_id", 1_000_000, &its, &[number]),
        moved("reservation_customer", "reservation", "r_c_id", 1_000_000, &its, &[number]),
        moved("flight", "flight", "f_al_id", 1_000_000, "f_id = 7", &["7"]),
        moved("customer", "customer", "c_base_ap_id", 1_000_000, "c_id = 7", &["7"]),
        Planted::new("frequent_flyer", &nobody, &[&flyer[0], &flyer[1]]),
        moved("country", "airline", "al_co_id", 1_000_000, "al_id = 7", &["airline", "7"]),
        moved("airport_distance", "airport_distance", "d_distance", 1, pair, &["7", "9"]),
    ]
}

/// A number that is another.
fn moved(check: &'static str, table: &str, column: &str, by: i64, which: &str, keys: &[&str]) -> Planted {
    Planted::new(check, &format!("UPDATE {table} SET {column} = {column} + {by} WHERE {which}"), keys)
}

/// What keeps reservations apart.
struct Key {
    index: &'static str,
    columns: &'static str,
}

/// A second reservation beside one of that number, once nothing keeps them apart.
fn twice(
    check: &'static str,
    number: &str,
    fields: &str,
    keys: &[&str],
    Key { index, columns }: Key,
    dialect: Dialect,
) -> Planted {
    let insert = format!(
        "INSERT INTO reservation SELECT 900000000, {fields}, r_price, r_iattr00, r_iattr01, r_iattr02, r_iattr03, \
         r_iattr04, r_iattr05, r_iattr06, r_iattr07, r_iattr08 FROM reservation WHERE r_id = {number}"
    );
    let of = if dialect == Dialect::MariaDb { " ON reservation" } else { "" };
    let mend = [
        "DELETE FROM reservation WHERE r_id = 900000000".to_owned(),
        format!("CREATE UNIQUE INDEX IF NOT EXISTS {index} ON reservation ({columns})"),
    ];
    Planted::new(check, &insert, keys).after(format!("DROP INDEX {index}{of}"), mend.into())
}
