//! New-Order (clause 2.4).
//!
//! Statements are as many as those of the client of the paper on which the experiments of Appendix C.1 stand: five, and
//! four a line; what needs no answer is sent together.

use crate::oltp::tpcc::nurand::NonUniform;
use crate::oltp::tpcc::schema::{ITEMS, LINES};
use crate::oltp::tpcc::terminal::{Terminal, district};
use crate::oltp::tpcc::text::is_original;
use crate::oltp::tpcc::{missing, now};
use crate::oltp::{Connection, Ended, Failure, Random, Statement, Transaction, Value};

/// A number that no item has (clause 2.4.1.5).
const UNUSED_ITEM: i64 = ITEMS + 1;

static CUSTOMER: Statement = Statement::new(
    "SELECT c_discount, c_last, c_credit, w_tax FROM customer JOIN warehouse ON w_id = c_w_id \
     WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3",
);
static DISTRICT: Statement =
    Statement::new("SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = $1 AND d_id = $2 FOR UPDATE");
static NEXT_ORDER: Statement =
    Statement::new("UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = $1 AND d_id = $2");
static INSERT_ORDER: Statement = Statement::new(
    "INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local) \
     VALUES ($1, $2, $3, $4, $5, NULL, $6, $7)",
);
static INSERT_NEW_ORDER: Statement =
    Statement::new("INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES ($1, $2, $3)");
static ITEM: Statement = Statement::new("SELECT i_price, i_name, i_data FROM item WHERE i_id = $1");

macro_rules! stock {
    ($($column:literal),*) => {
        [$(Statement::new(concat!(
            "SELECT s_quantity, ", $column, ", s_data FROM stock WHERE s_i_id = $1 AND s_w_id = $2 FOR UPDATE"
        ))),*]
    };
}
/// One for each district, whose information it reads.
static STOCK: [Statement; 10] = stock!(
    "s_dist_01",
    "s_dist_02",
    "s_dist_03",
    "s_dist_04",
    "s_dist_05",
    "s_dist_06",
    "s_dist_07",
    "s_dist_08",
    "s_dist_09",
    "s_dist_10"
);
/// The quantity is computed where it stands, since two lines of an order may be for the same stock.
static UPDATE_STOCK: Statement = Statement::new(
    "UPDATE stock SET s_quantity = s_quantity - $1 + CASE WHEN s_quantity - $1 >= 10 THEN 0 ELSE 91 END, \
     s_ytd = s_ytd + $1, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + $2 \
     WHERE s_i_id = $3 AND s_w_id = $4",
);
static INSERT_LINE: Statement = Statement::new(
    "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, \
     ol_quantity, ol_amount, ol_dist_info) VALUES ($1, $2, $3, $4, $5, $6, NULL, $7, $8, $9)",
);

/// As keyed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewOrder {
    warehouse: i64,
    district: i64,
    customer: i64,
    lines: Vec<Line>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line {
    item: i64,
    supplier: i64,
    quantity: i64,
}

/// What the terminal displays (clause 2.4.3.3).
#[derive(Debug)]
pub struct Shown {
    /// The order's number in its district.
    pub order: i64,
    /// Of the customer.
    pub last_name: String,
    /// Of the customer: GC or BC.
    pub credit: String,
    /// Ten-thousandths.
    pub discount: i64,
    /// Ten-thousandths.
    pub warehouse_tax: i64,
    /// Ten-thousandths.
    pub district_tax: i64,
    /// Those whose item there is.
    pub lines: Vec<ShownLine>,
    /// Cents. None: an item's number was not valid, and the order is rolled back.
    pub total: Option<i64>,
}

/// A line of the display.
#[derive(Debug)]
pub struct ShownLine {
    /// Of the item.
    pub name: String,
    /// What the stock held before.
    pub in_stock: i64,
    /// Both item and stock are marked as original: `B`, else `G`.
    pub brand: char,
    /// Cents.
    pub price: i64,
    /// Cents.
    pub amount: i64,
    dist_info: String,
}

struct Head {
    order: i64,
    last_name: String,
    credit: String,
    discount: i64,
    warehouse_tax: i64,
    district_tax: i64,
}

impl NewOrder {
    pub(super) fn draw(
        at: Terminal,
        fixed_lines: Option<i64>,
        constants: &NonUniform,
        random: &mut Random,
    ) -> Self {
        let (district, customer) = (district(random), constants.customer(random));
        let count = fixed_lines.unwrap_or_else(|| random.between(LINES.0, LINES.1));
        let is_wrong = random.percent(1.0) && fixed_lines.is_none();
        let mut lines: Vec<Line> = (0..count).map(|_| Line::draw(at, constants, random)).collect();
        if let Some(last) = lines.last_mut().filter(|_| is_wrong) {
            last.item = UNUSED_ITEM;
        }
        Self { warehouse: at.warehouse, district, customer, lines }
    }

    /// What it displays. To be rolled back if there is no total: the whole profile was run but for the unused item, as
    /// clause 2.4.2.3 has it.
    pub fn enter(&self, on: &mut dyn Connection) -> Result<Shown, Failure> {
        let head = self.head(on)?;
        self.insert_order(on, head.order)?;
        let found = self.lines.iter().map(|line| self.look_up(on, line)).collect::<Result<Vec<_>, _>>()?;
        self.write_lines(on, head.order, &found)?;
        let total = found
            .iter()
            .map(|line| line.as_ref().map(|line| line.amount))
            .sum::<Option<i64>>()
            .map(|sum| total(sum, head.discount, head.warehouse_tax + head.district_tax));
        Ok(Shown {
            order: head.order,
            last_name: head.last_name,
            credit: head.credit,
            discount: head.discount,
            warehouse_tax: head.warehouse_tax,
            district_tax: head.district_tax,
            lines: found.into_iter().flatten().collect(),
            total,
        })
    }

    fn head(&self, on: &mut dyn Connection) -> Result<Head, Failure> {
        let (warehouse, district) = (Value::from(self.warehouse), Value::from(self.district));
        let customer = on
            .row(&CUSTOMER, &[warehouse.clone(), district.clone(), self.customer.into()])?
            .ok_or_else(|| missing(format_args!("customer {}", self.customer)))?;
        let of_district = on
            .row(&DISTRICT, &[warehouse, district])?
            .ok_or_else(|| missing(format_args!("district {}", self.district)))?;
        Ok(Head {
            order: of_district.int(0)?,
            last_name: customer.text(1)?.to_owned(),
            credit: customer.text(2)?.to_owned(),
            discount: customer.decimal(0, 4)?,
            warehouse_tax: customer.decimal(3, 4)?,
            district_tax: of_district.decimal(1, 4)?,
        })
    }

    fn insert_order(&self, on: &mut dyn Connection, order: i64) -> Result<(), Failure> {
        let key = || [Value::from(order), self.district.into(), self.warehouse.into()];
        let all_local = self.lines.iter().all(|line| line.supplier == self.warehouse);
        let rest =
            [self.customer.into(), now(), (self.lines.len() as i64).into(), i64::from(all_local).into()];
        on.batch(&[
            (&NEXT_ORDER, vec![self.warehouse.into(), self.district.into()]),
            (&INSERT_ORDER, key().into_iter().chain(rest).collect()),
            (&INSERT_NEW_ORDER, key().to_vec()),
        ])?;
        Ok(())
    }

    fn look_up(&self, on: &mut dyn Connection, line: &Line) -> Result<Option<ShownLine>, Failure> {
        let Some(item) = on.row(&ITEM, &[line.item.into()])? else { return Ok(None) };
        let stock = on
            .row(&STOCK[self.district as usize - 1], &[line.item.into(), line.supplier.into()])?
            .ok_or_else(|| missing(format_args!("stock of item {}", line.item)))?;
        let price = item.decimal(0, 2)?;
        let both_original = is_original(item.text(2)?) && is_original(stock.text(2)?);
        Ok(Some(ShownLine {
            name: item.text(1)?.to_owned(),
            in_stock: stock.int(0)?,
            brand: if both_original { 'B' } else { 'G' },
            price,
            amount: price * line.quantity,
            dist_info: stock.text(1)?.to_owned(),
        }))
    }

    fn write_lines(
        &self,
        on: &mut dyn Connection,
        order: i64,
        found: &[Option<ShownLine>],
    ) -> Result<(), Failure> {
        let mut work: Vec<(&'static Statement, Vec<Value>)> = Vec::with_capacity(2 * found.len());
        for ((line, shown), number) in self.lines.iter().zip(found).zip(1_i64..) {
            let Some(shown) = shown else { continue };
            let remote = i64::from(line.supplier != self.warehouse);
            work.push((&UPDATE_STOCK, ints(&[line.quantity, remote, line.item, line.supplier])));
            let (d, w) = (self.district, self.warehouse);
            let mut row = ints(&[order, d, w, number, line.item, line.supplier, line.quantity]);
            row.extend([Value::cents(shown.amount), Value::from(shown.dist_info.as_str())]);
            work.push((&INSERT_LINE, row));
        }
        on.batch(&work)?;
        Ok(())
    }
}

impl Transaction for NewOrder {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        let shown = self.enter(on)?;
        Ok(if shown.total.is_some() { Ended::Commit } else { Ended::RollBack })
    }
}

impl Line {
    /// Supplied by another warehouse in one of 100 cases.
    fn draw(at: Terminal, constants: &NonUniform, random: &mut Random) -> Self {
        let item = constants.item(random);
        let supplier = if random.percent(1.0) { at.remote_warehouse(random) } else { at.warehouse };
        Self { item, supplier, quantity: random.between(1, 10) }
    }
}

fn ints(numbers: &[i64]) -> Vec<Value> {
    numbers.iter().map(|number| Value::from(*number)).collect()
}

/// Cents, rounded; rates are ten-thousandths.
fn total(sum: i64, discount: i64, taxes: i64) -> i64 {
    const WHOLE: i64 = 10_000;
    let exact = i128::from(sum) * i128::from(WHOLE - discount) * i128::from(WHOLE + taxes);
    let unit = i128::from(WHOLE * WHOLE);
    ((exact + unit / 2) / unit) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Terminal = Terminal { warehouse: 2, district: 1, warehouses: 4 };

    fn drawn(count: u64, fixed_lines: Option<i64>) -> Vec<NewOrder> {
        let constants = NonUniform::of(1);
        (0..count)
            .map(|number| NewOrder::draw(AT, fixed_lines, &constants, &mut Random::at(3, &[number])))
            .collect()
    }

    fn share(orders: &[NewOrder], has: impl Fn(&Line) -> bool) -> f64 {
        let lines: Vec<&Line> = orders.iter().flat_map(|order| &order.lines).collect();
        100.0 * lines.iter().filter(|line| has(line)).count() as f64 / lines.len() as f64
    }

    #[test]
    fn an_order_has_five_to_fifteen_lines_ten_in_the_mean() {
        let counts: Vec<_> = drawn(20_000, None).iter().map(|order| order.lines.len()).collect();
        assert_eq!((counts.iter().min(), counts.iter().max()), (Some(&5), Some(&15)));
        let mean = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
        assert!((mean - 10.0).abs() < 0.1, "{mean}");
    }

    #[test]
    fn one_of_a_hundred_ends_in_an_item_that_is_not_there() {
        let orders = drawn(50_000, None);
        let wrong = |order: &&NewOrder| order.lines.last().is_some_and(|line| line.item == UNUSED_ITEM);
        let found = orders.iter().filter(wrong).count();
        assert!((400..600).contains(&found), "{found} of 50000");
        let all_but_last = orders.iter().flat_map(|order| &order.lines[..order.lines.len() - 1]);
        assert!(all_but_last.into_iter().all(|line| line.item <= ITEMS));
    }

    #[test]
    fn one_line_of_a_hundred_is_supplied_by_another_warehouse() {
        let remote = share(&drawn(30_000, None), |line| line.supplier != AT.warehouse);
        assert!((0.9..1.1).contains(&remote), "{remote}%");
    }

    #[test]
    fn districts_and_quantities_take_all_their_values() {
        let orders = drawn(2_000, None);
        let districts: std::collections::BTreeSet<_> = orders.iter().map(|order| order.district).collect();
        assert_eq!(districts, (1..=10).collect());
        for quantity in 1..=10 {
            assert!((9.0..11.0).contains(&share(&orders, |line| line.quantity == quantity)));
        }
    }

    #[test]
    fn with_fixed_lines_all_have_them_and_none_rolls_back() {
        let orders = drawn(20_000, Some(15));
        assert!(orders.iter().all(|order| order.lines.len() == 15));
        assert_eq!(share(&orders, |line| line.item == UNUSED_ITEM), 0.0);
    }

    #[test]
    fn the_total_is_discounted_and_taxed() {
        assert_eq!(total(10_000, 0, 0), 10_000);
        assert_eq!(total(10_000, 1_000, 1_500), 10_350);
        assert_eq!(total(1, 5_000, 0), 1, "half a cent is rounded up");
    }
}
