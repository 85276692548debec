//! Delivery (clause 2.7): the oldest new order of each of the ten districts, in one transaction.

use crate::oltp::tpcc::schema::DISTRICTS;
use crate::oltp::tpcc::terminal::Terminal;
use crate::oltp::tpcc::{missing, now};
use crate::oltp::{Connection, Ended, Failure, Random, Statement, Transaction, Value};

/// Not `min(no_o_id)`, which takes no lock: two deliveries would find the same order.
static OLDEST: Statement = Statement::new(
    "SELECT no_o_id FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 ORDER BY no_o_id LIMIT 1 FOR UPDATE",
);
static ORDER: Statement =
    Statement::new("SELECT o_c_id FROM orders WHERE o_w_id = $1 AND o_d_id = $2 AND o_id = $3");
static AMOUNT: Statement = Statement::new(
    "SELECT sum(ol_amount) FROM order_line WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3",
);
static DELETE_NEW_ORDER: Statement =
    Statement::new("DELETE FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 AND no_o_id = $3");
static SET_CARRIER: Statement =
    Statement::new("UPDATE orders SET o_carrier_id = $4 WHERE o_w_id = $1 AND o_d_id = $2 AND o_id = $3");
static SET_DELIVERED: Statement = Statement::new(
    "UPDATE order_line SET ol_delivery_d = $4 WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3",
);
static CHARGE: Statement = Statement::new(
    "UPDATE customer SET c_balance = c_balance + $4, c_delivery_cnt = c_delivery_cnt + 1 \
     WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3",
);

/// As keyed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    warehouse: i64,
    carrier: i64,
}

impl Delivery {
    pub(super) fn draw(at: Terminal, random: &mut Random) -> Self {
        Self { warehouse: at.warehouse, carrier: random.between(1, 10) }
    }

    /// The order that was delivered in each district. None: it had no new order, and was skipped (clause 2.7.4.2).
    pub fn enter(&self, on: &mut dyn Connection) -> Result<Vec<Option<i64>>, Failure> {
        let delivered_at = now();
        (1..=DISTRICTS).map(|district| self.deliver(on, district, &delivered_at)).collect()
    }

    fn deliver(&self, on: &mut dyn Connection, district: i64, at: &Value) -> Result<Option<i64>, Failure> {
        let Some(oldest) = on.row(&OLDEST, &[self.warehouse.into(), district.into()])? else {
            return Ok(None);
        };
        let order = oldest.int(0)?;
        let key = [self.warehouse, district, order].map(Value::from);
        let no_order = || missing(format_args!("order {order} in district {district} of {}", self.warehouse));
        let customer = on.row(&ORDER, &key)?.ok_or_else(no_order)?.int(0)?;
        let amount = on.row(&AMOUNT, &key)?.ok_or_else(no_order)?.decimal(0, 2)?;
        let with =
            |number: i64, last: Value| vec![self.warehouse.into(), district.into(), number.into(), last];
        on.batch(&[
            (&DELETE_NEW_ORDER, key.to_vec()),
            (&SET_CARRIER, with(order, self.carrier.into())),
            (&SET_DELIVERED, with(order, at.clone())),
            (&CHARGE, with(customer, Value::cents(amount))),
        ])?;
        Ok(Some(order))
    }
}

impl Transaction for Delivery {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        self.enter(on).map(|_| Ended::Commit)
    }
}
