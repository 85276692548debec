//! A passenger moves to another seat, unless it is taken.

use crate::oltp::seats::new_reservation::{HIS_SEAT, SEAT, refused_if_there};
use crate::oltp::seats::passenger::Passenger;
use crate::oltp::seats::{SEATS, Seats};
use crate::oltp::{Connection, Ended, Failure, Random, Statement, Transaction};

/// One notes the change in each of four attributes.
static MOVE: [Statement; 4] = [
    Statement::new(
        "UPDATE reservation SET r_seat = $1, r_iattr00 = $2 WHERE r_id = $3 AND r_c_id = $4 AND r_f_id = $5",
    ),
    Statement::new(
        "UPDATE reservation SET r_seat = $1, r_iattr01 = $2 WHERE r_id = $3 AND r_c_id = $4 AND r_f_id = $5",
    ),
    Statement::new(
        "UPDATE reservation SET r_seat = $1, r_iattr02 = $2 WHERE r_id = $3 AND r_c_id = $4 AND r_f_id = $5",
    ),
    Statement::new(
        "UPDATE reservation SET r_seat = $1, r_iattr03 = $2 WHERE r_id = $3 AND r_c_id = $4 AND r_f_id = $5",
    ),
];

/// 1 to this.
const LARGEST_ATTRIBUTE: i64 = 1 << 20;

pub struct UpdateReservation {
    flight: i64,
    from: i64,
    to: i64,
    note: &'static Statement,
    attribute: i64,
}

impl UpdateReservation {
    pub fn draw(seats: &Seats, random: &mut Random) -> Self {
        Self {
            flight: seats.timetable.sought_with_passengers(random) as i64,
            from: random.below(SEATS) as i64,
            to: random.below(SEATS) as i64,
            note: &MOVE[random.below(MOVE.len() as u64) as usize],
            attribute: random.between(1, LARGEST_ATTRIBUTE),
        }
    }
}

impl Transaction for UpdateReservation {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        let Some(passenger) = Passenger::find(on, self.flight, self.from)? else {
            return Ok(Ended::RollBack);
        };
        if on.row(&SEAT, &[self.flight.into(), self.to.into()])?.is_some()
            || on.row(&HIS_SEAT, &[self.flight.into(), passenger.customer.into()])?.is_none()
        {
            return Ok(Ended::RollBack);
        }
        let (seat, attribute) = (self.to.into(), self.attribute.into());
        let key = [passenger.reservation.into(), passenger.customer.into(), self.flight.into()];
        let [reservation, customer, flight] = key;
        let moved = on.run(self.note, &[seat, attribute, reservation, customer, flight]);
        refused_if_there(moved.map(|rows| if rows == 1 { Ended::Commit } else { Ended::RollBack }))
    }
}
