//! A customer's details change; sometimes those that airlines keep of him as well.

use crate::oltp::seats::customers::login;
use crate::oltp::seats::{Seats, missing};
use crate::oltp::{Connection, Ended, Failure, Random, Row, Statement, Transaction, Value};

static BY_LOGIN: Statement = Statement::new("SELECT c_id FROM customer WHERE c_id_str = $1");
static CUSTOMER: Statement = Statement::new("SELECT * FROM customer WHERE c_id = $1");
static HOME: Statement =
    Statement::new("SELECT * FROM airport, country WHERE ap_id = $1 AND ap_co_id = co_id");
static FREQUENT_FLYER: Statement = Statement::new("SELECT * FROM frequent_flyer WHERE ff_c_id = $1");
static CHANGE_FREQUENT_FLYER: Statement = Statement::new(
    "UPDATE frequent_flyer SET ff_iattr00 = $1, ff_iattr01 = $2 WHERE ff_c_id = $3 AND ff_al_id = $4",
);
static CHANGE: Statement =
    Statement::new("UPDATE customer SET c_iattr00 = $1, c_iattr01 = $2 WHERE c_id = $3");

/// Percent.
const BY_LOGIN_SHARE: f64 = 20.0;
const FREQUENT_FLYER_SHARE: f64 = 25.0;

/// In `customer`.
const HOME_PLACE: usize = 2;
/// In `frequent_flyer`.
const AIRLINE_PLACE: usize = 1;

pub struct UpdateCustomer {
    customer: i64,
    by_login: bool,
    frequent_flyer: bool,
    attributes: [i64; 2],
}

impl UpdateCustomer {
    pub fn draw(seats: &Seats, random: &mut Random) -> Self {
        Self {
            customer: seats.customers.anyone(random) as i64,
            by_login: random.percent(BY_LOGIN_SHARE),
            frequent_flyer: random.percent(FREQUENT_FLYER_SHARE),
            attributes: std::array::from_fn(|_| random.bits() as i64),
        }
    }

    fn identify(&self, on: &mut dyn Connection) -> Result<i64, Failure> {
        if !self.by_login {
            return Ok(self.customer);
        }
        let found = on.row(&BY_LOGIN, &[login(self.customer).into()])?;
        found.ok_or_else(|| missing(format_args!("customer with login {}", login(self.customer))))?.int(0)
    }

    fn change_frequent_flyer(&self, on: &mut dyn Connection, customer: i64) -> Result<(), Failure> {
        let [first, second] = self.attributes.map(Value::from);
        let known = on.rows(&FREQUENT_FLYER, &[customer.into()])?;
        let change = |row: Row| {
            let airline = row.int(AIRLINE_PLACE)?.into();
            Ok((&CHANGE_FREQUENT_FLYER, vec![first.clone(), second.clone(), customer.into(), airline]))
        };
        let changes: Vec<_> = known.into_iter().map(change).collect::<Result<_, Failure>>()?;
        on.batch(&changes)?;
        Ok(())
    }
}

impl Transaction for UpdateCustomer {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        let customer = self.identify(on)?;
        let row = on.row(&CUSTOMER, &[customer.into()])?;
        let home = row.ok_or_else(|| missing(format_args!("customer {customer}")))?.int(HOME_PLACE)?;
        let airport = on.row(&HOME, &[home.into()])?;
        airport.ok_or_else(|| missing(format_args!("airport {home} with a country")))?;
        if self.frequent_flyer {
            self.change_frequent_flyer(on, customer)?;
        }
        let [first, second] = self.attributes.map(Value::from);
        on.run(&CHANGE, &[first, second, customer.into()])?;
        Ok(Ended::Commit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oltp::Options;

    #[test]
    fn one_in_five_gives_his_login_and_one_in_four_changes_his_frequent_flyers() {
        let seats = Seats::new(0.01, 42, Options::default()).unwrap();
        let mut random = Random::at(1, &[]);
        let all: Vec<_> = (0..20_000).map(|_| UpdateCustomer::draw(&seats, &mut random)).collect();
        let login = all.iter().filter(|update| update.by_login).count();
        let frequent_flyer = all.iter().filter(|update| update.frequent_flyer).count();
        assert!(
            login.abs_diff(4_000) < 290 && frequent_flyer.abs_diff(5_000) < 310,
            "{login}, {frequent_flyer}"
        );
        assert!(all.iter().all(|update| seats.customers.all().contains(&(update.customer as u64))));
    }
}
