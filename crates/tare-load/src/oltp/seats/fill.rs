//! The rows.

use std::ops::Range;

use crate::oltp::noise::noise;
use crate::oltp::seats::customers::login;
use crate::oltp::seats::schema::{
    AIRLINE, AIRPORT, AIRPORT_DISTANCE, COUNTRY, CUSTOMER, FLIGHT, FREQUENT_FLYER, RESERVATION,
};
use crate::oltp::seats::timetable::{Flight, airline};
use crate::oltp::seats::words::{airline_code, letters, name};
use crate::oltp::seats::world::{AIRLINES, AIRPORTS, COUNTRIES};
use crate::oltp::seats::{SEATS, Seats};
use crate::oltp::skewed::Skewed;
use crate::oltp::{Failure, Part, Random, Rows};

/// Customers, or days of flights, that are loaded at once.
const CUSTOMERS_AT_ONCE: u64 = 10_000;
const DAYS_AT_ONCE: u64 = 10;

/// Of attributes that scale; those of airports and airlines are any 64 bits.
const ATTRIBUTES: u64 = 1 << 30;

/// Whole units of the currency.
const BALANCES: (i64, i64) = (1_000, 10_000);
const PRICES: (i64, i64) = (100, 1_000);

/// Airlines a customer flies with often: below 10, or below 10 times the scale; most customers have none.
const FREQUENT: f64 = 10.0;
const FREQUENT_SKEW: f64 = 2.0;

/// Numbers of names, apart from those of countries.
const FIRST_CITY: u64 = 10_000;
const FIRST_AIRLINE: u64 = 20_000;

/// Streams of the seed are the tables' own numbers.
fn row(seats: &Seats, table: usize, number: u64) -> Random {
    Random::at(seats.seed, &[table as u64, number])
}

/// All tables.
pub fn parts(seats: &Seats) -> Vec<Part> {
    let whole = |table, rows| Part { table, number: 0, rows };
    let airports = AIRPORTS as u64;
    let mut all = vec![
        whole(COUNTRY, COUNTRIES),
        whole(AIRPORT, airports),
        whole(AIRPORT_DISTANCE, airports * (airports - 1)),
        whole(AIRLINE, AIRLINES),
    ];
    let customers = seats.customers.all();
    let most = most_frequent(seats);
    let powers = |exponent: i32| (1..=most).map(|rank| (rank as f64).powi(exponent)).sum::<f64>();
    let frequent = powers(-1) / powers(-2) - 1.0;
    for number in 0..(customers.end - 1).div_ceil(CUSTOMERS_AT_ONCE) {
        let here = range_length(&some_customers(seats, number));
        all.push(Part { table: CUSTOMER, number, rows: here });
        all.push(Part { table: FREQUENT_FLYER, number, rows: (here as f64 * frequent) as u64 });
    }
    for number in 0..seats.timetable.days().div_ceil(DAYS_AT_ONCE) {
        let here = range_length(&some_flights(seats, number));
        all.push(Part { table: FLIGHT, number, rows: here });
        let reserved = (here * SEATS) as f64 * seats.timetable.occupied / 100.0;
        all.push(Part { table: RESERVATION, number, rows: reserved as u64 });
    }
    all
}

/// Of one part.
pub fn fill(seats: &Seats, part: Part, rows: &mut dyn Rows) -> Result<(), Failure> {
    let number = part.number;
    match part.table {
        COUNTRY => (0..COUNTRIES).try_for_each(|country| country_row(country, rows)),
        AIRPORT => (0..AIRPORTS).try_for_each(|airport| airport_row(seats, airport, rows)),
        AIRPORT_DISTANCE => (0..AIRPORTS).try_for_each(|airport| distance_rows(seats, airport, rows)),
        AIRLINE => (0..AIRLINES).try_for_each(|airline| airline_row(seats, airline, rows)),
        CUSTOMER => {
            some_customers(seats, number).try_for_each(|customer| customer_row(seats, customer, rows))
        }
        FREQUENT_FLYER => {
            let often = Skewed::new(most_frequent(seats), FREQUENT_SKEW);
            some_customers(seats, number)
                .try_for_each(|customer| frequent_rows(seats, customer, &often, rows))
        }
        _ => some_flights(seats, number).try_for_each(|flight| {
            let flight = seats.timetable.flight(flight, &seats.world);
            if part.table == FLIGHT {
                flight_row(seats, &flight, rows)
            } else {
                reservation_rows(seats, &flight, rows)
            }
        }),
    }
}

fn some_customers(seats: &Seats, number: u64) -> Range<u64> {
    let all = seats.customers.all();
    let first = all.start + number * CUSTOMERS_AT_ONCE;
    first..(first + CUSTOMERS_AT_ONCE).min(all.end)
}

fn some_flights(seats: &Seats, number: u64) -> Range<u64> {
    let first = number * DAYS_AT_ONCE;
    seats.timetable.flights(first..(first + DAYS_AT_ONCE).min(seats.timetable.days()))
}

fn range_length(range: &Range<u64>) -> u64 {
    range.end - range.start
}

fn most_frequent(seats: &Seats) -> u64 {
    ((FREQUENT * seats.scale.max(1.0)).round() as u64).min(AIRLINES)
}

fn country_row(country: u64, rows: &mut dyn Rows) -> Result<(), Failure> {
    rows.int(country as i64 + 1);
    rows.text(&name(country));
    rows.text(&letters(country, 2));
    rows.text(&letters(country, 3));
    rows.end()
}

fn airport_row(seats: &Seats, number: usize, rows: &mut dyn Rows) -> Result<(), Failure> {
    let airport = &seats.world.airports[number];
    let mut random = row(seats, AIRPORT, number as u64);
    let city = name(FIRST_CITY + airport.city);
    rows.int(number as i64 + 1);
    rows.text(&letters(number as u64, 3));
    rows.text(&if airport.city == number as u64 {
        format!("{city} Airport")
    } else {
        format!("{city} City Airport")
    });
    rows.text(&city);
    rows.text(&format!("{:05}", random.below(100_000)));
    rows.int(airport.country as i64 + 1);
    rows.float(airport.place.longitude);
    rows.float(airport.place.latitude);
    rows.float((airport.place.longitude / 15.0).round());
    rows.int(airport.country as i64 + 1);
    (0..16).for_each(|_| rows.int(random.bits() as i64));
    rows.end()
}

fn distance_rows(seats: &Seats, from: usize, rows: &mut dyn Rows) -> Result<(), Failure> {
    (0..AIRPORTS).filter(|to| *to != from).try_for_each(|to| {
        rows.int(from as i64 + 1);
        rows.int(to as i64 + 1);
        rows.float(seats.world.miles(from, to));
        rows.end()
    })
}

fn airline_row(seats: &Seats, number: u64, rows: &mut dyn Rows) -> Result<(), Failure> {
    let mut random = row(seats, AIRLINE, number);
    let word = name(FIRST_AIRLINE + number);
    rows.int(number as i64 + 1);
    rows.text(&airline_code(number));
    rows.text(&letters(number, 3));
    rows.text(&word.to_ascii_uppercase());
    rows.text(&format!("{word} Airlines"));
    rows.int(random.between(1, COUNTRIES as i64));
    (0..16).for_each(|_| rows.int(random.bits() as i64));
    rows.end()
}

fn customer_row(seats: &Seats, customer: u64, rows: &mut dyn Rows) -> Result<(), Failure> {
    let mut random = row(seats, CUSTOMER, customer);
    rows.int(customer as i64);
    rows.text(&login(customer as i64));
    rows.int(seats.customers.home(customer) as i64 + 1);
    rows.decimal(random.between(BALANCES.0, BALANCES.1) * 100, 2);
    texts(&[32], &mut random, rows);
    texts(&[8; 19], &mut random, rows);
    numbers(20, &mut random, rows);
    rows.end()
}

fn frequent_rows(seats: &Seats, customer: u64, often: &Skewed, rows: &mut dyn Rows) -> Result<(), Failure> {
    let mut random = row(seats, FREQUENT_FLYER, customer);
    let count = often.rank(&mut random) as usize;
    let mut airlines = Vec::with_capacity(count);
    while airlines.len() < count {
        let next = airline(&mut random);
        if !airlines.contains(&next) {
            airlines.push(next);
        }
    }
    airlines.into_iter().try_for_each(|airline| {
        rows.int(customer as i64);
        rows.int(airline);
        rows.text(&login(customer as i64));
        texts(&[32; 4], &mut random, rows);
        numbers(16, &mut random, rows);
        rows.end()
    })
}

fn flight_row(seats: &Seats, flight: &Flight, rows: &mut dyn Rows) -> Result<(), Failure> {
    let mut random = row(seats, FLIGHT, flight.number);
    rows.int(flight.number as i64);
    rows.int(flight.airline);
    rows.int(flight.from as i64 + 1);
    rows.time(flight.departs);
    rows.int(flight.to as i64 + 1);
    rows.time(flight.arrives);
    rows.int(0);
    rows.decimal(flight.base_price, 2);
    rows.int(SEATS as i64);
    rows.int((SEATS - seats.timetable.reserved(flight.number)) as i64);
    numbers(30, &mut random, rows);
    rows.end()
}

fn reservation_rows(seats: &Seats, flight: &Flight, rows: &mut dyn Rows) -> Result<(), Failure> {
    let mut random = row(seats, RESERVATION, flight.number);
    let passengers = seats.timetable.passengers(flight, &seats.customers);
    passengers.into_iter().zip(0_i64..).try_for_each(|(customer, seat)| {
        // With gaps, so that a part needs no count of those before it.
        rows.int((flight.number as i64 - 1) * SEATS as i64 + seat + 1);
        rows.int(customer as i64);
        rows.int(flight.number as i64);
        rows.int(seat);
        rows.decimal(random.between(PRICES.0, PRICES.1) * 100, 2);
        numbers(9, &mut random, rows);
        rows.end()
    })
}

/// Of at most these lengths.
fn texts(lengths: &[i64], random: &mut Random, rows: &mut dyn Rows) {
    for longest in lengths {
        let length = random.between(1, *longest) as usize;
        rows.text(&noise(random, length));
    }
}

fn numbers(count: usize, random: &mut Random, rows: &mut dyn Rows) {
    (0..count).for_each(|_| rows.int(random.below(ATTRIBUTES) as i64));
}
