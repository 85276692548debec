//! Order-Status (clause 2.6).

use crate::oltp::tpcc::missing;
use crate::oltp::tpcc::nurand::NonUniform;
use crate::oltp::tpcc::terminal::{Terminal, Who, district};
use crate::oltp::{Connection, Ended, Failure, Random, Row, Statement, Transaction, Value};

static CUSTOMER: Statement = Statement::new(
    "SELECT c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3",
);
static LAST_ORDER: Statement = Statement::new(
    "SELECT o_id, o_entry_d, o_carrier_id FROM orders WHERE o_w_id = $1 AND o_d_id = $2 AND o_c_id = $3 \
     ORDER BY o_id DESC LIMIT 1",
);
static LINES: Statement = Statement::new(
    "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line \
     WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3",
);

/// As keyed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderStatus {
    warehouse: i64,
    district: i64,
    who: Who,
}

/// What the terminal displays (clause 2.6.3.3).
#[derive(Debug)]
pub struct Shown {
    /// Its number in its district.
    pub customer_number: i64,
    /// Balance and names.
    pub customer: Row,
    /// The customer's last: number, entry, carrier.
    pub order: Row,
    /// Item, supplier, quantity, amount, delivery of each.
    pub lines: Vec<Row>,
}

impl OrderStatus {
    pub(super) fn draw(at: Terminal, constants: &NonUniform, random: &mut Random) -> Self {
        let (warehouse, district) = (at.warehouse, district(random));
        Self { warehouse, district, who: Who::draw(constants, random) }
    }

    /// What it displays.
    pub fn enter(&self, on: &mut dyn Connection) -> Result<Shown, Failure> {
        let customer_number = self.who.find(on, self.warehouse, self.district)?;
        let of = |number: i64| [self.warehouse, self.district, number].map(Value::from);
        let customer = on
            .row(&CUSTOMER, &of(customer_number))?
            .ok_or_else(|| missing(format_args!("customer {customer_number}")))?;
        let order = on
            .row(&LAST_ORDER, &of(customer_number))?
            .ok_or_else(|| missing(format_args!("order of customer {customer_number}")))?;
        let lines = on.rows(&LINES, &of(order.int(0)?))?;
        Ok(Shown { customer_number, customer, order, lines })
    }
}

impl Transaction for OrderStatus {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        self.enter(on).map(|_| Ended::Commit)
    }
}
