use std::collections::{HashMap, HashSet};

use crate::oltp::kept::{assert_fits, column, table};
use crate::oltp::seats::timetable::DAY;
use crate::oltp::seats::world::{AIRPORTS, World};
use crate::oltp::seats::{SEATS, Seats};
use crate::oltp::{Options, Random, Value, Workload};

fn seats(scale: f64) -> Seats {
    Seats::new(scale, 42, Options::default()).unwrap()
}

fn occupied(percent: &str) -> Seats {
    let options = Options::new([("occupied".to_owned(), percent.to_owned())].into());
    Seats::new(0.01, 42, options).unwrap()
}

#[test]
fn scale_one_is_a_hundred_thousand_customers_and_fifty_two_days_of_flights() {
    let workload = seats(1.0);
    assert_eq!(workload.customers.all(), 1..100_001);
    assert_eq!((workload.timetable.days(), workload.timetable.days_to_come()), (52, 50));
    let flights = workload.timetable.flights(0..52);
    assert_eq!(flights.start, 1);
    // 1,500 a day; the deviation of their mean is 26.
    assert!((flights.end - 1).abs_diff(78_000) < 5_200, "{flights:?}");
    for day in 0..52 {
        let here = workload.timetable.flights(day..day + 1);
        assert!((1_125..1_875).contains(&(here.end - here.start)), "{here:?}");
    }
}

#[test]
fn a_hundredth_has_a_thousand_customers_and_two_days() {
    let workload = seats(0.01);
    let rows = |name| table(&workload, name).len();
    assert_eq!(
        (rows("country"), rows("airport"), rows("airline"), rows("customer")),
        (200, 300, 1_250, 1_000)
    );
    assert_eq!(rows("airport_distance"), 300 * 299);
    assert!((2_250..3_750).contains(&rows("flight")));
    // 1.5 of a flight's seats, and 0.89 airlines of a customer.
    assert!(rows("reservation").abs_diff(rows("flight") * 3 / 2) < 400);
    assert!((700..1_100).contains(&rows("frequent_flyer")), "{}", rows("frequent_flyer"));
}

#[test]
fn parts_say_about_how_many_rows_they_have() {
    let workload = seats(0.2);
    for (place, known) in workload.tables().iter().enumerate() {
        let said: u64 =
            workload.parts().iter().filter(|part| part.table == place).map(|part| part.rows).sum();
        let found = table(&workload, known.name).len() as f64;
        assert!((found / said as f64 - 1.0).abs() < 0.1, "{}: {said} said, {found} found", known.name);
    }
}

#[test]
fn every_value_fits_its_column() {
    assert_fits(&seats(0.02));
}

#[test]
fn the_same_seed_makes_the_same_rows_and_another_makes_others() {
    let (one, same) = (seats(0.01), seats(0.01));
    let other = Seats::new(0.01, 43, Options::default()).unwrap();
    for name in ["airport", "airport_distance", "customer", "frequent_flyer", "flight", "reservation"] {
        assert_eq!(table(&one, name), table(&same, name));
        assert_ne!(table(&one, name), table(&other, name), "{name}");
    }
    assert_ne!(one.timetable.today, other.timetable.today);
}

#[test]
fn seats_left_are_those_without_a_reservation() {
    for workload in [seats(0.01), occupied("0"), occupied("25"), occupied("100")] {
        let flights = table(&workload, "flight");
        let mut left: HashMap<_, _> = column(&flights, 0).into_iter().zip(column(&flights, 9)).collect();
        let reservations = table(&workload, "reservation");
        let [numbers, customers, on, at] = [0, 1, 2, 3].map(|place| column(&reservations, place));
        on.iter().for_each(|flight| *left.get_mut(flight).unwrap() += 1);
        assert!(left.values().all(|seats| *seats == SEATS as i64));
        assert!(at.iter().all(|seat| (0..SEATS as i64).contains(seat)));
        assert!(customers.iter().all(|customer| workload.customers.all().contains(&(*customer as u64))));
        let different = |column: &[i64]| on.iter().zip(column).collect::<HashSet<_>>().len();
        assert_eq!((different(&at), different(&customers)), (on.len(), on.len()));
        assert_eq!(numbers.into_iter().collect::<HashSet<_>>().len(), on.len());
    }
}

#[test]
fn flights_are_between_airports_that_have_routes_and_arrive_when_they_can() {
    let workload = seats(0.1);
    let (first, after) = (workload.timetable.today, workload.timetable.today + 6 * DAY);
    for number in workload.timetable.flights(0..6) {
        let flight = workload.timetable.flight(number, &workload.world);
        assert!((first..after).contains(&flight.departs));
        let hours = (flight.arrives - flight.departs) as f64 / 3.6e9;
        let miles = workload.world.miles(flight.from, flight.to);
        assert!(
            miles >= 100.0 && (hours - miles / 570.0).abs() < 1.0 / 60.0,
            "{miles} miles in {hours} hours"
        );
        assert!((1..=1_250).contains(&flight.airline));
    }
}

#[test]
fn airports_lie_apart_but_for_the_second_of_a_city() {
    let world = World::of(42);
    let mut near = 0;
    for from in 0..AIRPORTS {
        let others = (0..AIRPORTS).filter(|to| *to != from);
        let nearest = others.map(|to| world.miles(from, to)).fold(f64::MAX, f64::min);
        assert!(nearest > 0.0);
        near += usize::from(nearest <= 100.0);
    }
    assert!((100..220).contains(&near), "{near} have another within 100 miles");
    let second = &world.airports[5];
    assert_eq!((second.city, second.country), (world.airports[4].city, world.airports[4].country));
    assert!(world.miles(4, 5) <= 61.0);
}

#[test]
fn customers_live_where_departures_are() {
    let workload = seats(0.1);
    let homes = column(&table(&workload, "customer"), 2);
    let here = |airport| homes.iter().filter(|home| **home == airport).count();
    assert!(here(1) > 400 && here(300) < 20, "{} and {}", here(1), here(300));
    let mut random = Random::at(1, &[]);
    for airport in 0..AIRPORTS {
        let customer = workload.customers.of(airport, &mut random);
        assert_eq!(workload.customers.home(customer), airport);
        assert_eq!(homes[customer as usize - 1], airport as i64 + 1);
    }
}

#[test]
fn sought_flights_are_the_next_ten_thousand_to_leave() {
    let workload = seats(1.0);
    let mut random = Random::at(1, &[]);
    let past = workload.timetable.flights(0..1).end;
    let drawn: Vec<_> = (0..100_000).map(|_| workload.timetable.sought(&mut random)).collect();
    assert!(drawn.iter().all(|flight| (past..past + 10_000).contains(flight)));
    assert!(drawn.iter().collect::<HashSet<_>>().len() > 9_990);
    let someone = |flight: u64| workload.timetable.reserved(flight) > 0;
    assert!((0..1_000).all(|_| someone(workload.timetable.sought_with_passengers(&mut random))));
}

#[test]
fn the_shares_are_those_published() {
    let shares: Vec<_> = seats(0.01).kinds().iter().map(|kind| (kind.name, kind.share)).collect();
    let published = [
        ("delete_reservation", 10.0),
        ("find_flights", 10.0),
        ("find_open_seats", 35.0),
        ("new_reservation", 20.0),
        ("update_customer", 10.0),
        ("update_reservation", 15.0),
    ];
    assert_eq!(shares, published);
}

#[test]
fn frequent_flyers_have_an_airline_once() {
    let rows = table(&seats(0.1), "frequent_flyer");
    let pairs: HashSet<_> = column(&rows, 0).into_iter().zip(column(&rows, 1)).collect();
    assert_eq!(pairs.len(), rows.len());
    assert!(rows.iter().all(|row| matches!(&row[2], Value::Text(login) if login.len() == 16)));
}

#[test]
fn scales_and_options_that_make_no_sense_are_refused() {
    for scale in [0.0, 0.009, -1.0, f64::NAN, f64::INFINITY, 10_001.0] {
        assert!(Seats::new(scale, 1, Options::default()).err().unwrap().0.contains("0.01"));
    }
    for percent in ["-1", "101", "NaN", "many"] {
        let options = Options::new([("occupied".to_owned(), percent.to_owned())].into());
        assert!(Seats::new(1.0, 1, options).err().unwrap().0.contains("from 0 to 100"));
    }
}
