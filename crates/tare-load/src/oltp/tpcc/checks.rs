//! The twelve consistency conditions (clause 3.3.2).
//!
//! Each groups what it compares once and joins the groups: the cost is that of reading its tables. A missing group counts
//! as 0, so a row whose counterpart is gone is named too.

use crate::oltp::{Check, Statement};

macro_rules! order_sums {
    () => {
        "(SELECT ol_w_id, ol_d_id, ol_o_id, sum(ol_amount) AS amount FROM order_line \
         WHERE ol_delivery_d IS NOT NULL GROUP BY ol_w_id, ol_d_id, ol_o_id)"
    };
}

/// MariaDB would put the sums of each order into a table first, and takes a third longer for it.
macro_rules! lines {
    () => {
        "(SELECT ol_w_id, ol_d_id, ol_o_id, ol_amount AS amount FROM order_line WHERE ol_delivery_d IS NOT NULL)"
    };
}

macro_rules! delivered_by_customer {
    ($amounts:ident) => {
        concat!(
            "(SELECT o_w_id, o_d_id, o_c_id, sum(amount) AS delivered FROM orders JOIN ",
            $amounts!(),
            " AS counted ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
             GROUP BY o_w_id, o_d_id, o_c_id) AS bought \
             ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id"
        )
    };
}

macro_rules! balances {
    ($amounts:ident) => {
        concat!(
            "SELECT c_w_id, c_d_id, c_id, c_balance, coalesce(delivered, 0) AS sum_ol_amount, \
             coalesce(paid, 0) AS sum_h_amount FROM customer LEFT JOIN ",
            delivered_by_customer!($amounts),
            " LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS paid FROM history \
             GROUP BY h_c_w_id, h_c_d_id, h_c_id) AS payments \
             ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id \
             WHERE c_balance <> coalesce(delivered, 0) - coalesce(paid, 0) ORDER BY c_w_id, c_d_id, c_id"
        )
    };
}

macro_rules! balances_and_payments {
    ($amounts:ident) => {
        concat!(
            "SELECT c_w_id, c_d_id, c_id, c_balance + c_ytd_payment AS balance_and_payments, \
             coalesce(delivered, 0) AS sum_ol_amount FROM customer LEFT JOIN ",
            delivered_by_customer!($amounts),
            " WHERE c_balance + c_ytd_payment <> coalesce(delivered, 0) ORDER BY c_w_id, c_d_id, c_id"
        )
    };
}

/// In the specification's order.
pub static CHECKS: [Check; 12] = [
    Check {
        name: "3.3.2.1",
        says: "W_YTD = sum(D_YTD) of each warehouse",
        failing: Statement::new(
            "SELECT w_id, w_ytd, coalesce(sum_d_ytd, 0) AS sum_d_ytd FROM warehouse LEFT JOIN \
             (SELECT d_w_id, sum(d_ytd) AS sum_d_ytd FROM district GROUP BY d_w_id) AS districts ON d_w_id = w_id \
             WHERE w_ytd <> coalesce(sum_d_ytd, 0) ORDER BY w_id",
        ),
    },
    Check {
        name: "3.3.2.2",
        says: "D_NEXT_O_ID - 1 = max(O_ID) = max(NO_O_ID) of each district; the last if it has new orders",
        failing: Statement::new(
            "SELECT d_w_id, d_id, d_next_o_id - 1 AS d_next_o_id_less_1, max_o_id, max_no_o_id FROM district LEFT JOIN \
             (SELECT o_w_id, o_d_id, max(o_id) AS max_o_id FROM orders GROUP BY o_w_id, o_d_id) AS placed \
             ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN \
             (SELECT no_w_id, no_d_id, max(no_o_id) AS max_no_o_id FROM new_order GROUP BY no_w_id, no_d_id) AS waiting \
             ON no_w_id = d_w_id AND no_d_id = d_id \
             WHERE d_next_o_id - 1 <> coalesce(max_o_id, 0) OR d_next_o_id - 1 <> max_no_o_id ORDER BY d_w_id, d_id",
        ),
    },
    Check {
        name: "3.3.2.3",
        says: "max(NO_O_ID) - min(NO_O_ID) + 1 = rows in NEW-ORDER of each district that has any",
        failing: Statement::new(
            "SELECT no_w_id, no_d_id, max(no_o_id) - min(no_o_id) + 1 AS numbers, count(*) AS new_orders FROM new_order \
             GROUP BY no_w_id, no_d_id HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*) ORDER BY no_w_id, no_d_id",
        ),
    },
    Check {
        name: "3.3.2.4",
        says: "sum(O_OL_CNT) = rows in ORDER-LINE of each district",
        failing: Statement::new(
            "SELECT d_w_id, d_id, coalesce(sum_o_ol_cnt, 0) AS sum_o_ol_cnt, coalesce(order_lines, 0) AS order_lines \
             FROM district LEFT JOIN \
             (SELECT o_w_id, o_d_id, sum(o_ol_cnt) AS sum_o_ol_cnt FROM orders GROUP BY o_w_id, o_d_id) AS placed \
             ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN \
             (SELECT ol_w_id, ol_d_id, count(*) AS order_lines FROM order_line GROUP BY ol_w_id, ol_d_id) AS counted \
             ON ol_w_id = d_w_id AND ol_d_id = d_id \
             WHERE coalesce(sum_o_ol_cnt, 0) <> coalesce(order_lines, 0) ORDER BY d_w_id, d_id",
        ),
    },
    Check {
        name: "3.3.2.5",
        says: "O_CARRIER_ID is null where NEW-ORDER has the order, and only there",
        failing: Statement::new(
            "SELECT o_w_id, o_d_id, o_id, o_carrier_id, no_o_id FROM orders LEFT JOIN new_order \
             ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id \
             WHERE (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL) ORDER BY o_w_id, o_d_id, o_id",
        ),
    },
    Check {
        name: "3.3.2.6",
        says: "O_OL_CNT = rows in ORDER-LINE of each order",
        failing: Statement::new(
            "SELECT o_w_id, o_d_id, o_id, o_ol_cnt, coalesce(order_lines, 0) AS order_lines FROM orders LEFT JOIN \
             (SELECT ol_w_id, ol_d_id, ol_o_id, count(*) AS order_lines FROM order_line \
             GROUP BY ol_w_id, ol_d_id, ol_o_id) AS counted \
             ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
             WHERE o_ol_cnt <> coalesce(order_lines, 0) ORDER BY o_w_id, o_d_id, o_id",
        ),
    },
    Check {
        name: "3.3.2.7",
        says: "OL_DELIVERY_D is null where the order's O_CARRIER_ID is null, and only there",
        failing: Statement::new(
            "SELECT ol_w_id, ol_d_id, ol_o_id, ol_number, ol_delivery_d, o_carrier_id FROM orders JOIN order_line \
             ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
             WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL) ORDER BY ol_w_id, ol_d_id, ol_o_id, ol_number",
        ),
    },
    Check {
        name: "3.3.2.8",
        says: "W_YTD = sum(H_AMOUNT) of each warehouse",
        failing: Statement::new(
            "SELECT w_id, w_ytd, coalesce(sum_h_amount, 0) AS sum_h_amount FROM warehouse LEFT JOIN \
             (SELECT h_w_id, sum(h_amount) AS sum_h_amount FROM history GROUP BY h_w_id) AS paid ON h_w_id = w_id \
             WHERE w_ytd <> coalesce(sum_h_amount, 0) ORDER BY w_id",
        ),
    },
    Check {
        name: "3.3.2.9",
        says: "D_YTD = sum(H_AMOUNT) of each district",
        failing: Statement::new(
            "SELECT d_w_id, d_id, d_ytd, coalesce(sum_h_amount, 0) AS sum_h_amount FROM district LEFT JOIN \
             (SELECT h_w_id, h_d_id, sum(h_amount) AS sum_h_amount FROM history GROUP BY h_w_id, h_d_id) AS paid \
             ON h_w_id = d_w_id AND h_d_id = d_id WHERE d_ytd <> coalesce(sum_h_amount, 0) ORDER BY d_w_id, d_id",
        ),
    },
    Check {
        name: "3.3.2.10",
        says: "C_BALANCE = sum(OL_AMOUNT) of what was delivered - sum(H_AMOUNT) of each customer",
        failing: Statement::new(balances!(order_sums)).mariadb(balances!(lines)),
    },
    Check {
        name: "3.3.2.11",
        says: "rows in ORDER - rows in NEW-ORDER = 2,100 + sum(C_DELIVERY_CNT) of each district",
        failing: Statement::new(
            "SELECT d_w_id, d_id, coalesce(orders_in_all, 0) - coalesce(new_orders, 0) AS orders_less_new, \
             2100 + coalesce(deliveries, 0) AS delivered FROM district LEFT JOIN \
             (SELECT o_w_id, o_d_id, count(*) AS orders_in_all FROM orders GROUP BY o_w_id, o_d_id) AS placed \
             ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN \
             (SELECT no_w_id, no_d_id, count(*) AS new_orders FROM new_order GROUP BY no_w_id, no_d_id) AS waiting \
             ON no_w_id = d_w_id AND no_d_id = d_id LEFT JOIN \
             (SELECT c_w_id, c_d_id, sum(c_delivery_cnt) AS deliveries FROM customer GROUP BY c_w_id, c_d_id) AS customers \
             ON c_w_id = d_w_id AND c_d_id = d_id \
             WHERE coalesce(orders_in_all, 0) - coalesce(new_orders, 0) <> 2100 + coalesce(deliveries, 0) \
             ORDER BY d_w_id, d_id",
        ),
    },
    Check {
        name: "3.3.2.12",
        says: "C_BALANCE + C_YTD_PAYMENT = sum(OL_AMOUNT) of what was delivered of each customer",
        failing: Statement::new(balances_and_payments!(order_sums)).mariadb(balances_and_payments!(lines)),
    },
];
