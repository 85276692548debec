//! A passenger gives his seat back. He says who he is by his number, his login, or as a frequent flyer.

use crate::oltp::seats::customers::login;
use crate::oltp::seats::passenger::Passenger;
use crate::oltp::seats::{SEATS, Seats};
use crate::oltp::{Connection, Ended, Failure, Random, Statement, Transaction, Value};

static BY_LOGIN: Statement = Statement::new("SELECT c_id FROM customer WHERE c_id_str = $1");
static BY_FREQUENT_FLYER: Statement = Statement::new(
    "SELECT c_id, ff_al_id FROM customer, frequent_flyer WHERE ff_c_id_str = $1 AND ff_c_id = c_id ORDER BY ff_al_id",
);
static RESERVED: Statement = Statement::new(
    "SELECT c_sattr00, c_sattr02, c_sattr04, c_iattr00, c_iattr02, c_iattr04, c_iattr06, f_seats_left, r_id, r_seat, \
     r_price, r_iattr00 FROM customer, flight, reservation \
     WHERE c_id = $1 AND c_id = r_c_id AND f_id = $2 AND f_id = r_f_id",
);
static DELETE: Statement =
    Statement::new("DELETE FROM reservation WHERE r_id = $1 AND r_c_id = $2 AND r_f_id = $3");
static FREE_SEAT: Statement =
    Statement::new("UPDATE flight SET f_seats_left = f_seats_left + 1 WHERE f_id = $1");
static REFUND: Statement = Statement::new(
    "UPDATE customer SET c_balance = c_balance - $1, c_iattr00 = $2, c_iattr10 = c_iattr10 - 1, \
     c_iattr11 = c_iattr11 - 1 WHERE c_id = $3",
);
static UNCOUNT: Statement = Statement::new(
    "UPDATE frequent_flyer SET ff_iattr10 = ff_iattr10 - 1 WHERE ff_c_id = $1 AND ff_al_id = $2",
);

/// Percent of the passengers.
const BY_LOGIN_SHARE: f64 = 20.0;
const BY_FREQUENT_FLYER_SHARE: f64 = 20.0;

enum Credential {
    Number,
    Login,
    FrequentFlyer,
}

pub struct DeleteReservation {
    flight: i64,
    seat: i64,
    credential: Credential,
}

impl DeleteReservation {
    pub fn draw(seats: &Seats, random: &mut Random) -> Self {
        let drawn = random.unit() * 100.0;
        let credential = if drawn < BY_LOGIN_SHARE {
            Credential::Login
        } else if drawn < BY_LOGIN_SHARE + BY_FREQUENT_FLYER_SHARE {
            Credential::FrequentFlyer
        } else {
            Credential::Number
        };
        let flight = seats.timetable.sought_with_passengers(random) as i64;
        Self { flight, seat: random.below(SEATS) as i64, credential }
    }

    /// His number, and the airline that counts his flights. None: he is not known by what he says.
    fn identify(
        &self,
        on: &mut dyn Connection,
        customer: i64,
    ) -> Result<Option<(i64, Option<i64>)>, Failure> {
        let login = Value::from(login(customer));
        match self.credential {
            Credential::Number => Ok(Some((customer, None))),
            Credential::Login => on.row(&BY_LOGIN, &[login])?.map(|row| Ok((row.int(0)?, None))).transpose(),
            Credential::FrequentFlyer => on
                .row(&BY_FREQUENT_FLYER, &[login])?
                .map(|row| Ok((row.int(0)?, Some(row.int(1)?))))
                .transpose(),
        }
    }
}

impl Transaction for DeleteReservation {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        let Some(passenger) = Passenger::find(on, self.flight, self.seat)? else {
            return Ok(Ended::RollBack);
        };
        let Some((customer, airline)) = self.identify(on, passenger.customer)? else {
            return Ok(Ended::RollBack);
        };
        let Some(reserved) = on.row(&RESERVED, &[customer.into(), self.flight.into()])? else {
            return Ok(Ended::RollBack);
        };
        let (times, reservation, price) = (reserved.int(3)?, reserved.int(8)?, reserved.decimal(10, 2)?);
        if on.run(&DELETE, &[reservation.into(), customer.into(), self.flight.into()])? != 1 {
            return Ok(Ended::RollBack);
        }
        on.run(&FREE_SEAT, &[self.flight.into()])?;
        on.run(&REFUND, &[Value::cents(price), (times + 1).into(), customer.into()])?;
        if let Some(airline) = airline {
            on.run(&UNCOUNT, &[customer.into(), airline.into()])?;
        }
        Ok(Ended::Commit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oltp::Options;

    #[test]
    fn one_in_five_gives_his_login_and_one_in_five_is_a_frequent_flyer() {
        let seats = Seats::new(0.01, 42, Options::default()).unwrap();
        let mut random = Random::at(1, &[]);
        let mut counts = [0_usize; 3];
        (0..20_000)
            .for_each(|_| counts[DeleteReservation::draw(&seats, &mut random).credential as usize] += 1);
        let [number, login, frequent_flyer] = counts;
        assert!(number.abs_diff(12_000) < 350, "{counts:?}");
        assert!(login.abs_diff(4_000) < 290 && frequent_flyer.abs_diff(4_000) < 290, "{counts:?}");
    }
}
