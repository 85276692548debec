//! What terminals display and what becomes of the data, on SQLite in memory; each test rolls back what it did.

use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use crate::oltp::tpcc::names::last_name;
use crate::oltp::tpcc::new_order::Line;
use crate::oltp::tpcc::terminal::Who;
use crate::oltp::tpcc::{Delivery, NewOrder, OrderStatus, Payment, StockLevel};
use crate::oltp::{Connection, Dialect, Ended, Isolation, Options, Transaction, ddl, find, sqlite};

static SHOP: LazyLock<Mutex<Box<dyn Connection>>> = LazyLock::new(|| {
    let tpcc = find("tpcc", 1.0, 42, Options::default()).unwrap();
    let mut on =
        sqlite::connect("sqlite:///:memory:", Isolation::Serializable, Duration::from_secs(1)).unwrap();
    for table in tpcc.tables() {
        on.script(&ddl::create(table, Dialect::Sqlite)).unwrap();
    }
    for part in tpcc.parts() {
        on.load(&tpcc.tables()[part.table], &mut |rows| tpcc.fill(part, rows)).unwrap();
    }
    for sql in tpcc.tables().iter().flat_map(|table| ddl::complete(table, Dialect::Sqlite)) {
        on.script(&sql).unwrap();
    }
    Mutex::new(on)
});

fn undone(test: impl FnOnce(&mut dyn Connection)) {
    let mut on = SHOP.lock().unwrap_or_else(PoisonError::into_inner);
    on.rollback().unwrap();
    on.begin(true).unwrap();
    test(on.as_mut());
    on.rollback().unwrap();
}

/// The numbers of a query's only row; money in cents.
fn numbers(on: &mut dyn Connection, sql: &str) -> Vec<i64> {
    let (_, rows) = on.ask(sql).unwrap();
    assert_eq!(rows.len(), 1, "{sql}");
    (0..rows[0].0.len()).map(|place| rows[0].int(place).unwrap()).collect()
}

fn number(on: &mut dyn Connection, sql: &str) -> i64 {
    numbers(on, sql)[0]
}

fn order(lines: &[(i64, i64)]) -> NewOrder {
    let line = |&(item, quantity): &(i64, i64)| Line { item, supplier: 1, quantity };
    NewOrder { warehouse: 1, district: 2, customer: 3, lines: lines.iter().map(line).collect() }
}

#[test]
fn an_order_is_priced_and_taxed_by_what_the_tables_say() {
    undone(|on| {
        let shown = order(&[(10, 3), (20, 4)]).enter(on).unwrap();
        let prices: Vec<_> =
            [10, 20].map(|item| number(on, &format!("SELECT i_price FROM item WHERE i_id = {item}"))).into();
        assert_eq!(shown.lines.iter().map(|line| line.price).collect::<Vec<_>>(), prices);
        let sql = "SELECT c_discount, w_tax, d_tax FROM customer, warehouse, district \
                   WHERE c_id = 3 AND c_d_id = 2 AND d_id = 2";
        let rates: Vec<f64> = numbers(on, sql).iter().map(|rate| *rate as f64 / 1e4).collect();
        let sum = (3 * prices[0] + 4 * prices[1]) as f64;
        let total = sum * (1.0 - rates[0]) * (1.0 + rates[1] + rates[2]);
        assert!((shown.total.unwrap() as f64 - total).abs() <= 0.5, "{shown:?} but {total}");
        assert_eq!(shown.order, 3_001);
    });
}

#[test]
fn stock_falls_by_what_is_ordered_and_is_filled_up_before_it_falls_below_ten() {
    undone(|on| {
        on.script("UPDATE stock SET s_quantity = CASE s_i_id WHEN 10 THEN 20 ELSE 19 END").unwrap();
        order(&[(10, 10), (20, 10)]).enter(on).unwrap();
        let stock = "SELECT s_quantity, s_ytd, s_order_cnt, s_remote_cnt FROM stock WHERE s_i_id =";
        assert_eq!(numbers(on, &format!("{stock} 10")), [10, 10, 1, 0]);
        assert_eq!(numbers(on, &format!("{stock} 20")), [100, 10, 1, 0]);
    });
}

#[test]
fn an_item_that_stands_in_an_order_twice_leaves_the_stock_twice() {
    undone(|on| {
        on.script("UPDATE stock SET s_quantity = 50 WHERE s_i_id = 10").unwrap();
        order(&[(10, 4), (10, 5)]).enter(on).unwrap();
        let stock = "SELECT s_quantity, s_ytd, s_order_cnt FROM stock WHERE s_i_id = 10";
        assert_eq!(numbers(on, stock), [41, 9, 2]);
    });
}

#[test]
fn what_another_warehouse_supplies_is_counted_there() {
    undone(|on| {
        on.script("INSERT INTO warehouse SELECT 2, w_name, w_street_1, w_street_2, w_city, w_state, w_zip, w_tax, 0 FROM warehouse")
            .unwrap();
        on.script("UPDATE stock SET s_w_id = 2 WHERE s_i_id = 10").unwrap();
        let mut remote = order(&[(10, 1), (20, 1)]);
        remote.lines[0].supplier = 2;
        remote.enter(on).unwrap();
        assert_eq!(numbers(on, "SELECT s_remote_cnt, s_order_cnt FROM stock WHERE s_w_id = 2"), [1, 1]);
        let local = "SELECT o_all_local, o_ol_cnt FROM orders WHERE o_id = 3001 AND o_d_id = 2";
        assert_eq!(numbers(on, local), [0, 2]);
    });
}

#[test]
fn goods_are_branded_where_item_and_stock_are_both_original() {
    undone(|on| {
        on.script("UPDATE item SET i_data = 'xxORIGINALxx' WHERE i_id IN (10, 20)").unwrap();
        on.script("UPDATE stock SET s_data = CASE s_i_id WHEN 10 THEN 'ORIGINAL' ELSE 'copy' END").unwrap();
        let shown = order(&[(10, 1), (20, 1)]).enter(on).unwrap();
        assert_eq!(shown.lines.iter().map(|line| line.brand).collect::<String>(), "BG");
    });
}

#[test]
fn an_order_with_an_unused_item_does_all_the_rest_and_asks_for_its_rollback() {
    undone(|on| {
        let wrong = order(&[(10, 1), (20, 1), (100_001, 1)]);
        assert_eq!(wrong.run(on).unwrap(), Ended::RollBack);
        assert_eq!(number(on, "SELECT count(*) FROM order_line WHERE ol_o_id = 3001 AND ol_d_id = 2"), 2);
        assert_eq!(number(on, "SELECT sum(s_order_cnt) FROM stock"), 2);
        on.rollback().unwrap();
        on.begin(true).unwrap();
        assert_eq!(number(on, "SELECT count(*) FROM orders WHERE o_id = 3001"), 0);
        assert_eq!(number(on, "SELECT max(d_next_o_id) FROM district"), 3_001);
    });
}

#[test]
fn order_status_shows_the_order_that_was_just_entered_and_then_its_delivery() {
    undone(|on| {
        let entered = order(&[(10, 3), (20, 4)]).enter(on).unwrap();
        let status = OrderStatus { warehouse: 1, district: 2, who: Who::Number(3) };
        let shown = status.enter(on).unwrap();
        assert_eq!(shown.order.int(0).unwrap(), entered.order);
        assert!(shown.order.is_null(2), "no carrier yet");
        let lines: Vec<_> =
            shown.lines.iter().map(|line| (line.int(0).unwrap(), line.int(2).unwrap())).collect();
        assert_eq!(lines, [(10, 3), (20, 4)]);
        on.script("DELETE FROM new_order WHERE no_d_id = 2 AND no_o_id <= 3000").unwrap();
        Delivery { warehouse: 1, carrier: 9 }.enter(on).unwrap();
        let shown = status.enter(on).unwrap();
        assert_eq!(shown.order.int(2).unwrap(), 9);
        assert!(shown.lines.iter().all(|line| !line.is_null(4)));
    });
}

#[test]
fn a_payment_reaches_warehouse_district_customer_and_history() {
    undone(|on| {
        let payment =
            Payment { warehouse: 1, district: 2, who: Who::Number(3), home: (1, 4), amount: 12_345 };
        let shown = payment.enter(on).unwrap();
        assert_eq!((shown.customer_number, shown.balance), (3, -1_000 - 12_345));
        assert_eq!(number(on, "SELECT w_ytd FROM warehouse"), 30_000_000 + 12_345);
        assert_eq!(number(on, "SELECT d_ytd FROM district WHERE d_id = 2"), 3_000_000 + 12_345);
        let customer =
            "SELECT c_balance, c_ytd_payment, c_payment_cnt FROM customer WHERE c_id = 3 AND c_d_id = 4";
        assert_eq!(numbers(on, customer), [-13_345, 13_345, 2]);
        let history = "SELECT h_c_id, h_c_d_id, h_d_id, h_amount FROM history ORDER BY rowid DESC LIMIT 1";
        assert_eq!(numbers(on, history), [3, 4, 2, 12_345]);
    });
}

#[test]
fn a_payment_of_bad_credit_is_noted_in_the_customers_data() {
    undone(|on| {
        let sql = "SELECT min(c_id) FROM customer WHERE c_d_id = 4 AND c_credit = 'BC'";
        let bad = number(on, sql);
        let payment =
            Payment { warehouse: 1, district: 2, who: Who::Number(bad), home: (1, 4), amount: 12_345 };
        let shown = payment.enter(on).unwrap();
        let noted = format!("{bad} 4 1 2 1 123.45|");
        assert!(shown.data.as_ref().is_some_and(|data| data.starts_with(&noted) && data.len() == 200));
        let sql =
            format!("SELECT count(*) FROM customer WHERE substr(c_data, 1, {}) = '{noted}'", noted.len());
        assert_eq!(number(on, &sql), 1);
        let good = Payment { who: Who::Number(bad - 1), ..payment };
        assert_eq!(good.enter(on).unwrap().data, None);
    });
}

#[test]
fn of_several_customers_of_a_name_the_middle_one_by_first_name_is_meant() {
    undone(|on| {
        on.script("UPDATE customer SET c_last = 'SMITH' WHERE c_d_id = 5 AND c_id IN (11, 22, 33, 44)")
            .unwrap();
        on.script(
            "UPDATE customer SET c_first = CASE c_id WHEN 11 THEN 'D' WHEN 22 THEN 'A' WHEN 33 THEN 'C' ELSE 'B' END \
             WHERE c_d_id = 5",
        )
        .unwrap();
        let smith = Who::LastName("SMITH".to_owned());
        assert_eq!(smith.find(on, 1, 5).unwrap(), 44, "the second of four");
        on.script("UPDATE customer SET c_last = 'JONES' WHERE c_d_id = 5 AND c_id = 22").unwrap();
        assert_eq!(smith.find(on, 1, 5).unwrap(), 33, "the second of three");
        assert!(Who::LastName("NOBODY".to_owned()).find(on, 1, 5).unwrap_err().text.contains("NOBODY"));
        for name in [0, 371, 999] {
            Who::LastName(last_name(name)).find(on, 1, 5).unwrap();
        }
    });
}

#[test]
fn a_delivery_takes_the_oldest_new_order_of_all_ten_districts_and_charges_their_customers() {
    undone(|on| {
        let shown = Delivery { warehouse: 1, carrier: 7 }.enter(on).unwrap();
        assert_eq!(shown, vec![Some(2_101); 10]);
        assert_eq!(number(on, "SELECT count(*) FROM new_order WHERE no_o_id = 2101"), 0);
        assert_eq!(number(on, "SELECT count(*) FROM orders WHERE o_id = 2101 AND o_carrier_id = 7"), 10);
        let charged = number(on, "SELECT sum(c_balance + 1000) FROM customer");
        assert_eq!(
            number(on, "SELECT sum(ol_amount) FROM order_line WHERE ol_delivery_d IS NOT NULL"),
            charged
        );
        assert_eq!(number(on, "SELECT sum(c_delivery_cnt) FROM customer"), 10);
    });
}

#[test]
fn a_delivery_skips_a_district_without_new_orders() {
    undone(|on| {
        on.script("DELETE FROM new_order WHERE no_d_id = 6").unwrap();
        let shown = Delivery { warehouse: 1, carrier: 7 }.enter(on).unwrap();
        assert_eq!(shown.iter().position(Option::is_none), Some(5));
        assert_eq!(shown.iter().flatten().count(), 9);
    });
}

#[test]
fn the_stock_level_counts_distinct_items_of_the_last_twenty_orders_below_the_threshold() {
    undone(|on| {
        let level = StockLevel { warehouse: 1, district: 2, threshold: 15 };
        let expected = "SELECT count(*) FROM stock WHERE s_quantity < 15 AND s_i_id IN \
                        (SELECT ol_i_id FROM order_line WHERE ol_d_id = 2 AND ol_o_id BETWEEN 2981 AND 3000)";
        let counted = number(on, expected);
        assert_eq!(level.enter(on).unwrap(), counted);
        on.script("UPDATE stock SET s_quantity = 100 WHERE s_i_id = 10").unwrap();
        order(&[(10, 1), (10, 1)]).enter(on).unwrap();
        on.script("UPDATE stock SET s_quantity = 14").unwrap();
        let all = "SELECT count(DISTINCT ol_i_id) FROM order_line WHERE ol_d_id = 2 AND ol_o_id BETWEEN 2982 AND 3001";
        let all = number(on, all);
        assert_eq!(level.enter(on).unwrap(), all);
    });
}
