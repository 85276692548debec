//! A customer takes a seat, unless it is taken, the flight is full, or he has one on it.

use crate::oltp::seats::{SEATS, Seats, missing};
use crate::oltp::{Connection, Ended, Failure, Random, Statement, Transaction, Trouble, Value};

static FLIGHT: Statement = Statement::new(
    "SELECT f_al_id, f_seats_left, airline.* FROM flight, airline WHERE f_id = $1 AND f_al_id = al_id",
);
pub static SEAT: Statement = Statement::new("SELECT r_id FROM reservation WHERE r_f_id = $1 AND r_seat = $2");
pub static HIS_SEAT: Statement =
    Statement::new("SELECT r_id FROM reservation WHERE r_f_id = $1 AND r_c_id = $2");
static CUSTOMER: Statement =
    Statement::new("SELECT c_base_ap_id, c_balance, c_sattr00 FROM customer WHERE c_id = $1");
static RESERVE: Statement = Statement::new(
    "INSERT INTO reservation (r_id, r_c_id, r_f_id, r_seat, r_price, r_iattr00, r_iattr01, r_iattr02, r_iattr03, \
     r_iattr04, r_iattr05, r_iattr06, r_iattr07, r_iattr08) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
);
static TAKE_SEAT: Statement =
    Statement::new("UPDATE flight SET f_seats_left = f_seats_left - 1 WHERE f_id = $1");
static COUNT: Statement = Statement::new(
    "UPDATE customer SET c_iattr10 = c_iattr10 + 1, c_iattr11 = c_iattr11 + 1, c_iattr12 = $1, c_iattr13 = $2, \
     c_iattr14 = $3, c_iattr15 = $4 WHERE c_id = $5",
);
static COUNT_FREQUENT_FLYER: Statement = Statement::new(
    "UPDATE frequent_flyer SET ff_iattr10 = ff_iattr10 + 1, ff_iattr11 = $1, ff_iattr12 = $2, ff_iattr13 = $3, \
     ff_iattr14 = $4 WHERE ff_c_id = $5 AND ff_al_id = $6",
);

/// Half of what a seat costs, in the currency.
const HALF_PRICES: (i64, i64) = (100, 1_000);

pub struct NewReservation {
    reservation: i64,
    customer: i64,
    flight: i64,
    seat: i64,
    price: i64,
    attributes: [i64; 9],
}

impl NewReservation {
    pub fn draw(seats: &Seats, random: &mut Random) -> Self {
        let flight = seats.timetable.flight(seats.timetable.sought(random), &seats.world);
        Self {
            reservation: seats.next_reservation(),
            customer: seats.customers.of(flight.from, random) as i64,
            flight: flight.number as i64,
            seat: random.below(SEATS) as i64,
            price: random.between(HALF_PRICES.0, HALF_PRICES.1) * 2 * 100,
            attributes: std::array::from_fn(|_| random.bits() as i64),
        }
    }

    fn reserve(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        let mut row: Vec<Value> =
            [self.reservation, self.customer, self.flight, self.seat].map(Value::from).into();
        row.push(Value::cents(self.price));
        row.extend(self.attributes.map(Value::from));
        let reserved = on.run(&RESERVE, &row);
        refused_if_there(reserved.map(|_| Ended::Commit))
    }

    fn count(&self, on: &mut dyn Connection, airline: i64) -> Result<(), Failure> {
        let [a, b, c, d, e, f, g, h, _] = self.attributes.map(Value::from);
        on.run(&TAKE_SEAT, &[self.flight.into()])?;
        on.run(&COUNT, &[a, b, c, d, self.customer.into()])?;
        on.run(&COUNT_FREQUENT_FLYER, &[e, f, g, h, self.customer.into(), airline.into()])?;
        Ok(())
    }
}

/// The seat was free when it was looked at, and another was faster.
pub fn refused_if_there(ended: Result<Ended, Failure>) -> Result<Ended, Failure> {
    match ended {
        Err(failure) if failure.trouble == Trouble::Duplicate => Ok(Ended::RollBack),
        other => other,
    }
}

impl Transaction for NewReservation {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        let flight = on.row(&FLIGHT, &[self.flight.into()])?;
        let flight = flight.ok_or_else(|| missing(format_args!("flight {} with an airline", self.flight)))?;
        let (airline, left) = (flight.int(0)?, flight.int(1)?);
        if left <= 0
            || on.row(&SEAT, &[self.flight.into(), self.seat.into()])?.is_some()
            || on.row(&HIS_SEAT, &[self.flight.into(), self.customer.into()])?.is_some()
        {
            return Ok(Ended::RollBack);
        }
        let customer = on.row(&CUSTOMER, &[self.customer.into()])?;
        customer.ok_or_else(|| missing(format_args!("customer {}", self.customer)))?;
        if self.reserve(on)? == Ended::RollBack {
            return Ok(Ended::RollBack);
        }
        self.count(on, airline)?;
        Ok(Ended::Commit)
    }
}
