//! Somebody who has a seat on a flight, found when he is needed: what a client of the published benchmark remembers.

use crate::oltp::{Connection, Failure, Statement};

/// From a seat on, and round again: one row of at most 150 index entries.
static PASSENGER: Statement = Statement::new(
    "SELECT r_id, r_c_id FROM reservation WHERE r_f_id = $1 \
     ORDER BY CASE WHEN r_seat >= $2 THEN 0 ELSE 1 END, r_seat LIMIT 1",
);

/// His reservation.
pub struct Passenger {
    pub reservation: i64,
    pub customer: i64,
}

impl Passenger {
    /// Whoever sits there or next behind. None: the flight is empty.
    pub fn find(on: &mut dyn Connection, flight: i64, seat: i64) -> Result<Option<Self>, Failure> {
        on.row(&PASSENGER, &[flight.into(), seat.into()])?
            .map(|row| Ok(Self { reservation: row.int(0)?, customer: row.int(1)? }))
            .transpose()
    }
}
