//! Stock-Level (clause 2.8).

use crate::oltp::tpcc::missing;
use crate::oltp::tpcc::terminal::Terminal;
use crate::oltp::{Connection, Ended, Failure, Random, Statement, Transaction, Value};

static NEXT_ORDER: Statement =
    Statement::new("SELECT d_next_o_id FROM district WHERE d_w_id = $1 AND d_id = $2");
static LOW_STOCK: Statement = Statement::new(
    "SELECT count(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id \
     WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id >= $3 AND ol_o_id < $4 AND s_quantity < $5",
);

/// The orders whose items are counted.
const RECENT: i64 = 20;

/// As keyed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StockLevel {
    warehouse: i64,
    district: i64,
    threshold: i64,
}

impl StockLevel {
    pub(super) fn draw(at: Terminal, random: &mut Random) -> Self {
        Self { warehouse: at.warehouse, district: at.district, threshold: random.between(10, 20) }
    }

    /// How many items of the district's last twenty orders are below the threshold.
    pub fn enter(&self, on: &mut dyn Connection) -> Result<i64, Failure> {
        let site = [self.warehouse, self.district].map(Value::from);
        let next = on
            .row(&NEXT_ORDER, &site)?
            .ok_or_else(|| missing(format_args!("district {}", self.district)))?
            .int(0)?;
        let rest = [next - RECENT, next, self.threshold].map(Value::from);
        let parameters: Vec<Value> = site.into_iter().chain(rest).collect();
        on.row(&LOW_STOCK, &parameters)?.ok_or_else(|| missing("stock"))?.int(0)
    }
}

impl Transaction for StockLevel {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        self.enter(on).map(|_| Ended::Commit)
    }
}
