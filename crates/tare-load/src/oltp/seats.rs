//! SEATS: an airline's tickets. Customers look for flights and seats, reserve them, change their minds.
//!
//! By Stonebraker and Pavlo (H-Store, 2011), as OLTP-Bench and its successor BenchBase have it. The two agree on the
//! schema, the sizes and what a transaction does; H-Store's mix is 5, 10, 50, 25, 5, 5, ours that of the other two.
//!
//! Scale 1 is 100,000 customers (comments there that say 1,000 do not say what the code does) and the flights of 1 day
//! past, today, and 50 days to come. Customers and days grow with the scale; flights a day do not: 1,125 to 1,875. Each
//! has 150 seats. Options:
//! - `occupied`: percent of the seats that are reserved at the start, each by itself; as published, 1.
//!
//! Where this one departs from the published ones:
//! - The world is our own: 200 countries, 300 airports with flights (there, 286 of 9,263), 1,250 airlines, all invented.
//!   Larger airports have more flights, distances are those of a sphere, some cities have two airports. The routes and
//!   the times of a day are not those of a real timetable. Its today is a day of 2026, chosen by the seed.
//! - Customers are numbered airport by airport, so who lives where follows from the number; flights day by day. There,
//!   the key is put together from the airport's, airline's and day's.
//! - There, a client remembers which seats it saw open and which reservations it made, tells no other client, and sends
//!   something else when it knows of none. Here parameters come from the seed alone: any of the next 10,000 flights,
//!   any seat, a customer at home where it departs; and a reservation to delete or to change is first looked for on its
//!   flight (`passenger`), one more indexed statement of `delete_reservation` and `update_reservation`. If there is none,
//!   or the seat is taken, the transaction is rolled back, as specified; there, it commits and has done nothing. So is
//!   one in eight of `delete_reservation`: one in five says who he is as a frequent flyer, and most are none.
//! - So a run that is repeated with the same seed on the same data wants the same seats again, and finds them taken:
//!   give each run its own seed, or load again.
//! - A customer on a flight returns home with it or leaves home with it; there, each return belongs to a way out.
//! - (flight, customer) is a unique index, since "no customer twice on a flight" must hold at any isolation level.
//! - A reservation that was deleted meanwhile is not counted twice: there, the seat is given back without a look at
//!   whether a row was deleted.
//! - `find_flights` looks for flights to airports near the destination; there, a wrong column makes it look for flights
//!   from an airport to itself. Distances are stored in both directions.
//! - `update_customer` changes frequent flyers in 25 of 100 cases, which is what its constant says; there, always.
//! - `c_iattr11` is counted down by itself, not from `c_iattr10`. Money is exact.
//! - The tables of the loader's own notes, `config_profile` and `config_histograms`, are not needed.

mod checks;
mod customers;
mod delete_reservation;
mod fill;
mod find_flights;
mod find_open_seats;
mod new_reservation;
mod passenger;
mod schema;
mod sphere;
mod timetable;
mod update_customer;
mod update_reservation;
mod weights;
mod words;
mod world;

use std::sync::atomic::{AtomicI64, Ordering};

use crate::oltp::workload::{TransactionType, kinds};
use crate::oltp::{
    Check, Connection, Failure, Kind, Mistake, Options, Part, Random, Rows, Statement, Table, Transaction,
    Workload,
};
use customers::Customers;
use delete_reservation::DeleteReservation;
use find_flights::FindFlights;
use find_open_seats::FindOpenSeats;
use new_reservation::NewReservation;
use timetable::Timetable;
use update_customer::UpdateCustomer;
use update_reservation::UpdateReservation;
use world::World;

static TYPES: [TransactionType<Seats>; 6] = [
    TransactionType::new("delete_reservation", 10.0, true, |seats, random, _| {
        Box::new(DeleteReservation::draw(seats, random))
    }),
    TransactionType::new("find_flights", 10.0, false, |seats, random, _| {
        Box::new(FindFlights::draw(seats, random))
    }),
    TransactionType::new("find_open_seats", 35.0, false, |seats, random, _| {
        Box::new(FindOpenSeats::draw(seats, random))
    }),
    TransactionType::new("new_reservation", 20.0, true, |seats, random, _| {
        Box::new(NewReservation::draw(seats, random))
    }),
    TransactionType::new("update_customer", 10.0, true, |seats, random, _| {
        Box::new(UpdateCustomer::draw(seats, random))
    }),
    TransactionType::new("update_reservation", 15.0, true, |seats, random, _| {
        Box::new(UpdateReservation::draw(seats, random))
    }),
];
static KINDS: [Kind; 6] = kinds(&TYPES);

static LAST_RESERVATION: Statement = Statement::new("SELECT max(r_id) FROM reservation");

/// 1,000 customers: with fewer, a full flight might not find its passengers.
const SMALLEST: f64 = 0.01;
const LARGEST: f64 = 10_000.0;
const CUSTOMERS: f64 = 100_000.0;

/// Of every flight.
const SEATS: u64 = 150;
/// Percent of the seats.
const OCCUPIED: f64 = 1.0;

/// At one scale.
pub struct Seats {
    scale: f64,
    seed: u64,
    world: World,
    customers: Customers,
    timetable: Timetable,
    last_reservation: AtomicI64,
}

impl Seats {
    /// Refuses scales out of range, and options that it does not know.
    pub fn new(scale: f64, data_seed: u64, mut options: Options) -> Result<Self, Mistake> {
        if !(SMALLEST..=LARGEST).contains(&scale) {
            let wanted = "seats' is its customers in 100,000, give a number from 0.01 to 10000";
            return Err(Mistake(format!("scale {scale}: {wanted}")));
        }
        let wanted = "the percentage of seats reserved at the start, from 0 to 100";
        let occupied = options.take::<f64>("occupied", wanted)?.unwrap_or(OCCUPIED);
        if !(0.0..=100.0).contains(&occupied) {
            return Err(Mistake(format!("occupied = {occupied}: give {wanted}")));
        }
        options.finish("seats")?;
        let world = World::of(data_seed);
        let customers = Customers::at_home((CUSTOMERS * scale).round() as u64, &world);
        let timetable = Timetable::of(scale, occupied, data_seed);
        Ok(Self { scale, seed: data_seed, world, customers, timetable, last_reservation: AtomicI64::new(0) })
    }

    /// In no order that matters: whoever draws first has the lower number.
    fn next_reservation(&self) -> i64 {
        self.last_reservation.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl Workload for Seats {
    fn name(&self) -> &'static str {
        "seats"
    }

    fn scale(&self) -> f64 {
        self.scale
    }

    fn kinds(&self) -> &'static [Kind] {
        &KINDS
    }

    fn tables(&self) -> &'static [Table] {
        &schema::TABLES
    }

    fn parts(&self) -> Vec<Part> {
        fill::parts(self)
    }

    fn fill(&self, part: Part, rows: &mut dyn Rows) -> Result<(), Failure> {
        fill::fill(self, part, rows)
    }

    fn draw(&self, kind: usize, random: &mut Random, home: Option<u64>) -> Box<dyn Transaction> {
        (TYPES[kind].draw)(self, random, home)
    }

    fn meet(&self, on: &mut dyn Connection) -> Result<(), Failure> {
        let last = match on.row(&LAST_RESERVATION, &[])? {
            Some(row) if !row.is_null(0) => row.int(0)?,
            _ => 0,
        };
        self.last_reservation.fetch_max(last, Ordering::Relaxed);
        Ok(())
    }

    fn checks(&self) -> &'static [Check] {
        &checks::CHECKS
    }
}

/// The database lacks a row that every SEATS database has.
fn missing(what: impl std::fmt::Display) -> Failure {
    Failure::foreign(format!("there is no {what}: the tables are not those of seats at this scale and seed"))
}

#[cfg(test)]
mod tests;
