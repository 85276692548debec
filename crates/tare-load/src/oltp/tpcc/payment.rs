//! Payment (clause 2.5).

use crate::oltp::tpcc::nurand::NonUniform;
use crate::oltp::tpcc::terminal::{Terminal, Who, district};
use crate::oltp::tpcc::{missing, now};
use crate::oltp::{Connection, Ended, Failure, Random, Row, Statement, Transaction, Value};

static PAY_WAREHOUSE: Statement = Statement::new("UPDATE warehouse SET w_ytd = w_ytd + $1 WHERE w_id = $2");
static WAREHOUSE: Statement = Statement::new(
    "SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = $1",
);
static PAY_DISTRICT: Statement =
    Statement::new("UPDATE district SET d_ytd = d_ytd + $1 WHERE d_w_id = $2 AND d_id = $3");
static DISTRICT: Statement = Statement::new(
    "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district WHERE d_w_id = $1 AND d_id = $2",
);
static CUSTOMER: Statement = Statement::new(
    "SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit, \
     c_credit_lim, c_discount, c_balance FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3 FOR UPDATE",
);
static CUSTOMER_DATA: Statement =
    Statement::new("SELECT c_data FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3");
static PAY: Statement = Statement::new(
    "UPDATE customer SET c_balance = c_balance - $1, c_ytd_payment = c_ytd_payment + $1, \
     c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = $2 AND c_d_id = $3 AND c_id = $4",
);
static PAY_WITH_DATA: Statement = Statement::new(
    "UPDATE customer SET c_balance = c_balance - $1, c_ytd_payment = c_ytd_payment + $1, \
     c_payment_cnt = c_payment_cnt + 1, c_data = $5 WHERE c_w_id = $2 AND c_d_id = $3 AND c_id = $4",
);
static INSERT_HISTORY: Statement = Statement::new(
    "INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
);

const CREDIT: usize = 10;
const BALANCE: usize = 13;
const LONGEST_DATA: usize = 500;

/// As keyed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    warehouse: i64,
    district: i64,
    who: Who,
    /// Of the customer.
    home: (i64, i64),
    /// Cents.
    amount: i64,
}

/// What the terminal displays (clause 2.5.3.4).
#[derive(Debug)]
pub struct Shown {
    /// Name and address.
    pub warehouse: Row,
    /// Name and address.
    pub district: Row,
    /// Its number in its district.
    pub customer_number: i64,
    /// From the first name to the balance that it had before.
    pub customer: Row,
    /// Cents.
    pub balance: i64,
    /// The first 200 characters, of a customer of bad credit.
    pub data: Option<String>,
}

impl Payment {
    /// The customer pays elsewhere in 15 of 100 cases.
    pub(super) fn draw(at: Terminal, constants: &NonUniform, random: &mut Random) -> Self {
        let paid_in = district(random);
        let is_remote = random.percent(15.0);
        let home =
            if is_remote { (at.remote_warehouse(random), district(random)) } else { (at.warehouse, paid_in) };
        Self {
            warehouse: at.warehouse,
            district: paid_in,
            who: Who::draw(constants, random),
            home,
            amount: random.between(100, 500_000),
        }
    }

    /// What it displays.
    pub fn enter(&self, on: &mut dyn Connection) -> Result<Shown, Failure> {
        let (warehouse, district) = self.sites(on)?;
        let customer_number = self.who.find(on, self.home.0, self.home.1)?;
        let key: Vec<Value> = vec![self.home.0.into(), self.home.1.into(), customer_number.into()];
        let customer = on
            .row(&CUSTOMER, &key)?
            .ok_or_else(|| missing(format_args!("customer {customer_number} of {:?}", self.home)))?;
        let data = match customer.text(CREDIT)? {
            "BC" => Some(self.new_data(on, &key, customer_number)?),
            _ => None,
        };
        let pay = self.pay(&key, data.as_deref());
        let history = self.history(customer_number, warehouse.text(0)?, district.text(0)?);
        on.batch(&[pay, (&INSERT_HISTORY, history)])?;
        let balance = customer.decimal(BALANCE, 2)? - self.amount;
        let data = data.map(|data| data[..data.len().min(200)].to_owned());
        Ok(Shown { warehouse, district, customer_number, customer, balance, data })
    }

    /// Each is written before it is read: read first, two payments could both wait to write.
    fn sites(&self, on: &mut dyn Connection) -> Result<(Row, Row), Failure> {
        let (w, d, amount) =
            (Value::from(self.warehouse), Value::from(self.district), Value::cents(self.amount));
        on.run(&PAY_WAREHOUSE, &[amount.clone(), w.clone()])?;
        let warehouse = on
            .row(&WAREHOUSE, std::slice::from_ref(&w))?
            .ok_or_else(|| missing(format_args!("warehouse {}", self.warehouse)))?;
        on.run(&PAY_DISTRICT, &[amount, w.clone(), d.clone()])?;
        let district =
            on.row(&DISTRICT, &[w, d])?.ok_or_else(|| missing(format_args!("district {}", self.district)))?;
        Ok((warehouse, district))
    }

    /// This payment stands before what was there, and what does not fit is lost (clause 2.5.2.2).
    fn new_data(&self, on: &mut dyn Connection, key: &[Value], customer: i64) -> Result<String, Failure> {
        let old = on
            .row(&CUSTOMER_DATA, key)?
            .ok_or_else(|| missing(format_args!("customer {customer} of {:?}", self.home)))?;
        Ok(self.prepended(customer, old.text(0)?))
    }

    fn prepended(&self, customer: i64, old: &str) -> String {
        let (warehouse, district) = self.home;
        let (whole, cents) = (self.amount / 100, self.amount % 100);
        let paid = format!(
            "{customer} {district} {warehouse} {} {} {whole}.{cents:02}|",
            self.district, self.warehouse
        );
        paid.chars().chain(old.chars()).take(LONGEST_DATA).collect()
    }

    fn pay(&self, key: &[Value], data: Option<&str>) -> (&'static Statement, Vec<Value>) {
        let parameters = [Value::cents(self.amount)].into_iter().chain(key.iter().cloned());
        match data {
            Some(data) => (&PAY_WITH_DATA, parameters.chain([Value::from(data)]).collect()),
            None => (&PAY, parameters.collect()),
        }
    }

    fn history(&self, customer: i64, warehouse: &str, district: &str) -> Vec<Value> {
        let numbers = [customer, self.home.1, self.home.0, self.district, self.warehouse];
        let rest = [now(), Value::cents(self.amount), Value::from(format!("{warehouse}    {district}"))];
        numbers.into_iter().map(Value::from).chain(rest).collect()
    }
}

impl Transaction for Payment {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        self.enter(on).map(|_| Ended::Commit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(warehouses: i64) -> Vec<Payment> {
        let (constants, at) = (NonUniform::of(1), Terminal { warehouse: 1, district: 1, warehouses });
        (0..20_000).map(|number| Payment::draw(at, &constants, &mut Random::at(4, &[number]))).collect()
    }

    #[test]
    fn fifteen_of_a_hundred_customers_pay_at_a_warehouse_that_is_not_theirs() {
        let remote = drawn(4).iter().filter(|payment| payment.home.0 != payment.warehouse).count();
        assert!((2_850..3_150).contains(&remote), "{remote} of 20000");
        let at_home = |payment: &Payment| {
            payment.home.0 != payment.warehouse || payment.home == (payment.warehouse, payment.district)
        };
        assert!(drawn(4).iter().all(at_home));
    }

    #[test]
    fn at_a_single_warehouse_they_only_pay_in_another_district() {
        let elsewhere = drawn(1).iter().filter(|payment| payment.home.1 != payment.district).count();
        assert!((2_550..2_850).contains(&elsewhere), "{elsewhere} of 20000, where 13.5% are expected");
    }

    #[test]
    fn amounts_lie_between_one_and_five_thousand() {
        let amounts: Vec<_> = drawn(1).iter().map(|payment| payment.amount).collect();
        assert!(amounts.iter().all(|amount| (100..=500_000).contains(amount)));
        let mean = amounts.iter().sum::<i64>() / amounts.len() as i64;
        assert!((245_000..255_000).contains(&mean), "{mean}");
    }

    #[test]
    fn data_of_bad_credit_begins_with_the_latest_payment_and_never_grows_too_long() {
        let payment =
            Payment { warehouse: 1, district: 2, who: Who::Number(77), home: (3, 4), amount: 1_205 };
        assert_eq!(payment.prepended(77, "abc"), "77 4 3 2 1 12.05|abc");
        let long = payment.prepended(77, &"x".repeat(500));
        assert!(long.len() == 500 && long.starts_with("77 4 3 2 1 12.05|xxx"));
    }
}
