//! Which seats of a flight are free, and what each costs: the fuller the flight, the more, and the first rows double.

use std::hint::black_box;

use crate::oltp::seats::{SEATS, Seats, missing};
use crate::oltp::{Connection, Ended, Failure, Random, Statement, Transaction};

static FLIGHT: Statement = Statement::new(
    "SELECT f_status, f_base_price, f_seats_total, f_seats_left, \
     round(f_base_price * (2 * f_seats_total - f_seats_left) / f_seats_total, 2) AS f_price \
     FROM flight WHERE f_id = $1",
)
.sqlite(
    "SELECT f_status, f_base_price, f_seats_total, f_seats_left, \
     CAST(round(f_base_price * (2.0 * f_seats_total - f_seats_left) / f_seats_total) AS integer) AS f_price \
     FROM flight WHERE f_id = $1",
);
static TAKEN: Statement = Statement::new("SELECT r_id, r_f_id, r_seat FROM reservation WHERE r_f_id = $1");

/// Seats that cost double.
const FIRST_CLASS: usize = 10;

pub struct FindOpenSeats {
    flight: i64,
}

impl FindOpenSeats {
    pub fn draw(seats: &Seats, random: &mut Random) -> Self {
        Self { flight: seats.timetable.sought(random) as i64 }
    }
}

impl Transaction for FindOpenSeats {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        let flight = on.row(&FLIGHT, &[self.flight.into()])?;
        let flight = flight.ok_or_else(|| missing(format_args!("flight {}", self.flight)))?;
        let price = flight.decimal(4, 2)?;
        let mut taken = [false; SEATS as usize];
        for row in on.rows(&TAKEN, &[self.flight.into()])? {
            let seat = usize::try_from(row.int(2)?).ok().and_then(|seat| taken.get_mut(seat));
            *seat.ok_or_else(|| missing(format_args!("such seat on flight {}", self.flight)))? = true;
        }
        let open = (0..taken.len()).filter(|seat| !taken[*seat]);
        let offers: Vec<(usize, i64)> =
            open.map(|seat| (seat, if seat < FIRST_CLASS { 2 * price } else { price })).collect();
        black_box(offers);
        Ok(Ended::Commit)
    }
}
