//! Flights: each follows from its number. They are numbered from 1, day by day.

use std::ops::Range;

use crate::oltp::Random;
use crate::oltp::seats::SEATS;
use crate::oltp::seats::customers::Customers;
use crate::oltp::seats::weights::Weights;
use crate::oltp::seats::world::{AIRLINES, World};

const DAYS_PAST: f64 = 1.0;
const DAYS_TO_COME: f64 = 50.0;
const FEWEST_A_DAY: u64 = 1_125;
const MOST_A_DAY: u64 = 1_875;

/// Miles an hour.
const SPEED: f64 = 570.0;
/// In the currency.
const PRICES: (i64, i64) = (100, 1_000);

/// That customers look at: those that leave first.
const SOUGHT: u64 = 10_000;
/// Of draws of a flight that had passengers at the start.
const TRIES: usize = 20;

pub const DAY: i64 = 86_400_000_000;
const QUARTER_HOUR: i64 = DAY / 96;
const MINUTE: i64 = 60_000_000;
/// 2026-01-01, µs since 1970.
const NEW_YEAR: i64 = 1_767_225_600_000_000;

/// Departures by the hour: few at night, most in the morning and towards the evening.
const HOURS: [u64; 24] =
    [4, 2, 1, 1, 2, 14, 68, 72, 64, 58, 56, 58, 60, 57, 54, 56, 62, 68, 60, 52, 44, 34, 22, 10];

/// Streams of the seed.
const TODAY: u64 = 300;
const FLIGHTS_A_DAY: u64 = 301;
const FLIGHT: u64 = 302;
const RESERVED: u64 = 303;
const PASSENGERS: u64 = 304;

/// As it is planned.
pub struct Flight {
    pub number: u64,
    /// From 1.
    pub airline: i64,
    /// Places among the airports.
    pub from: usize,
    pub to: usize,
    /// µs since 1970.
    pub departs: i64,
    pub arrives: i64,
    /// Hundredths of the currency.
    pub base_price: i64,
}

/// The same for the same seed.
pub struct Timetable {
    seed: u64,
    /// Percent of the seats at the start.
    pub occupied: f64,
    /// Midnight, µs since 1970.
    pub today: i64,
    /// Before today.
    past: usize,
    /// Of each day, and the end.
    first: Vec<u64>,
    hours: Weights,
}

impl Timetable {
    /// See `occupied`.
    pub fn of(scale: f64, occupied: f64, seed: u64) -> Self {
        let past = (DAYS_PAST * scale).round() as usize;
        let to_come = (DAYS_TO_COME * scale).round() as usize;
        let mut first = vec![1];
        for day in 0..past + 1 + to_come {
            first.push(first[day] + flights_a_day(seed, day as u64));
        }
        let today = NEW_YEAR + Random::at(seed, &[TODAY]).below(365) as i64 * DAY;
        Self { seed, occupied, today, past, first, hours: Weights::of(HOURS.into_iter()) }
    }

    /// In all.
    pub fn days(&self) -> u64 {
        self.first.len() as u64 - 1
    }

    /// After today.
    pub fn days_to_come(&self) -> u64 {
        self.days() - self.past as u64 - 1
    }

    /// Of these days.
    pub fn flights(&self, days: Range<u64>) -> Range<u64> {
        self.first[days.start as usize]..self.first[days.end as usize]
    }

    /// By its number.
    pub fn flight(&self, number: u64, world: &World) -> Flight {
        let mut random = Random::at(self.seed, &[FLIGHT, number]);
        let day = self.first.partition_point(|first| *first <= number) as i64 - 1;
        let from = world.traffic.draw(&mut random);
        let to = world.destination(from, &mut random);
        let hour = self.hours.draw(&mut random) as i64;
        let quarter = hour * 4 + random.below(4) as i64;
        let departs = self.today + (day - self.past as i64) * DAY + quarter * QUARTER_HOUR;
        let minutes = (world.miles(from, to) / SPEED * 60.0).ceil() as i64;
        Flight {
            number,
            airline: airline(&mut random),
            from,
            to,
            departs,
            arrives: departs + minutes * MINUTE,
            base_price: random.between(PRICES.0, PRICES.1) * 100,
        }
    }

    /// Seats that are reserved at the start: the first ones.
    pub fn reserved(&self, flight: u64) -> u64 {
        let mut random = Random::at(self.seed, &[RESERVED, flight]);
        (0..SEATS).filter(|_| random.percent(self.occupied)).count() as u64
    }

    /// Who has them, seat by seat: nobody twice. Half of them live where it departs, the others where it arrives.
    pub fn passengers(&self, flight: &Flight, customers: &Customers) -> Vec<u64> {
        let mut random = Random::at(self.seed, &[PASSENGERS, flight.number]);
        let count = self.reserved(flight.number) as usize;
        let mut all = Vec::with_capacity(count);
        while all.len() < count {
            let home = if random.percent(50.0) { flight.from } else { flight.to };
            let mut next = customers.of(home, &mut random);
            while all.contains(&next) {
                next = customers.anyone(&mut random);
            }
            all.push(next);
        }
        all
    }

    /// One that has not departed yet.
    pub fn sought(&self, random: &mut Random) -> u64 {
        let first = self.first[self.past];
        let after = self.first[self.first.len() - 1];
        first + random.below((after - first).min(SOUGHT))
    }

    /// One of these that had a passenger at the start, if there are any.
    pub fn sought_with_passengers(&self, random: &mut Random) -> u64 {
        let mut flight = self.sought(random);
        for _ in 0..TRIES {
            if self.reserved(flight) > 0 {
                break;
            }
            flight = self.sought(random);
        }
        flight
    }
}

/// From 1; those in the middle have more flights, and more frequent flyers.
pub fn airline(random: &mut Random) -> i64 {
    1 + bell(AIRLINES, random) as i64
}

fn flights_a_day(seed: u64, day: u64) -> u64 {
    FEWEST_A_DAY + bell(MOST_A_DAY - FEWEST_A_DAY, &mut Random::at(seed, &[FLIGHTS_A_DAY, day]))
}

/// Below `size`: normal about its middle, with a quarter of it as the deviation, cut off at the ends. Twelve uniform
/// numbers make it, with no logarithm that might differ from machine to machine.
fn bell(size: u64, random: &mut Random) -> u64 {
    loop {
        let normal = (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
        let place = ((normal + 2.0) / 4.0 * size as f64).floor();
        if place >= 0.0 && place < size as f64 {
            return place as u64;
        }
    }
}
