//! One corruption for each of the twelve conditions, planted in a transaction that is rolled back.

use tare_load::oltp::{Dialect, Statement, Workload};

use crate::harness::failing;
use crate::servers::Server;

pub struct Case {
    /// What was done to the data.
    says: &'static str,
    planted: &'static [Statement],
    /// Conditions that must fail, each with the keys that it must name, and no other.
    found: &'static [(&'static str, &'static [&'static [i64]])],
}

macro_rules! case {
    ($says:literal, [$($sql:literal),+], $($check:literal => [$($key:expr),+]),+) => {
        Case {
            says: $says,
            planted: &[$(Statement::new($sql)),+],
            found: &[$(($check, &[$(&$key),+])),+],
        }
    };
}

pub static CASES: [Case; 13] = [
    case!("a warehouse's takings", ["UPDATE warehouse SET w_ytd = w_ytd + 1 WHERE w_id = 2"],
        "3.3.2.1" => [[2]], "3.3.2.8" => [[2]]),
    case!("a district's next number", ["UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = 1 AND d_id = 3"],
        "3.3.2.2" => [[1, 3]]),
    case!("a hole in the new orders", ["DELETE FROM new_order WHERE no_w_id = 2 AND no_d_id = 4 AND no_o_id = 2995"],
        "3.3.2.3" => [[2, 4]], "3.3.2.5" => [[2, 4, 2995]], "3.3.2.11" => [[2, 4]]),
    case!("a line of no order", ["UPDATE order_line SET ol_o_id = 9999999 WHERE ol_w_id = 1 AND ol_d_id = 5 AND ol_o_id = 1 AND ol_number = 1", "UPDATE orders SET o_ol_cnt = o_ol_cnt - 1 WHERE o_w_id = 1 AND o_d_id = 5 AND o_id = 1"],
        "3.3.2.4" => [[1, 5]]),
    case!("a line that is gone", ["DELETE FROM order_line WHERE ol_w_id = 2 AND ol_d_id = 6 AND ol_o_id = 2999 AND ol_number = 2"],
        "3.3.2.4" => [[2, 6]], "3.3.2.6" => [[2, 6, 2999]]),
    case!("an order that lost its carrier", ["UPDATE orders SET o_carrier_id = NULL WHERE o_w_id = 1 AND o_d_id = 7 AND o_id = 70", "UPDATE order_line SET ol_delivery_d = NULL WHERE ol_w_id = 1 AND ol_d_id = 7 AND ol_o_id = 70"],
        "3.3.2.5" => [[1, 7, 70]]),
    case!("a line counted with another order", ["UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE o_w_id = 1 AND o_d_id = 8 AND o_id = 80", "UPDATE orders SET o_ol_cnt = o_ol_cnt - 1 WHERE o_w_id = 1 AND o_d_id = 8 AND o_id = 81"],
        "3.3.2.6" => [[1, 8, 80], [1, 8, 81]]),
    case!("a line that lost its delivery", ["UPDATE order_line SET ol_delivery_d = NULL WHERE ol_w_id = 2 AND ol_d_id = 9 AND ol_o_id = 90 AND ol_number = 3"],
        "3.3.2.7" => [[2, 9, 90, 3]]),
    case!("takings that nobody paid", ["UPDATE warehouse SET w_ytd = w_ytd + 1 WHERE w_id = 1", "UPDATE district SET d_ytd = d_ytd + 1 WHERE d_w_id = 1 AND d_id = 10"],
        "3.3.2.8" => [[1]], "3.3.2.9" => [[1, 10]]),
    case!("takings of another district", ["UPDATE district SET d_ytd = d_ytd + 1 WHERE d_w_id = 1 AND d_id = 1", "UPDATE district SET d_ytd = d_ytd - 1 WHERE d_w_id = 1 AND d_id = 2"],
        "3.3.2.9" => [[1, 1], [1, 2]]),
    case!("a balance and its payments", ["UPDATE customer SET c_balance = c_balance + 1, c_ytd_payment = c_ytd_payment - 1 WHERE c_w_id = 2 AND c_d_id = 1 AND c_id = 1234"],
        "3.3.2.10" => [[2, 1, 1234]]),
    case!("a delivery too many", ["UPDATE customer SET c_delivery_cnt = c_delivery_cnt + 1 WHERE c_w_id = 1 AND c_d_id = 2 AND c_id = 77"],
        "3.3.2.11" => [[1, 2]]),
    case!("payments to date", ["UPDATE customer SET c_ytd_payment = c_ytd_payment + 1 WHERE c_w_id = 2 AND c_d_id = 3 AND c_id = 3000"],
        "3.3.2.12" => [[2, 3, 3000]]),
];

impl Case {
    /// On a server only its own conditions are asked, for time; that no other finds anything, SQLite tells.
    pub fn plant(&'static self, server: &Server, tpcc: &dyn Workload) {
        let mut on = server.open();
        on.begin(true).unwrap();
        for statement in self.planted {
            assert!(on.run(statement, &[]).unwrap() >= 1, "{}", self.says);
        }
        for check in tpcc.checks() {
            let due = self.found.iter().find(|(name, _)| *name == check.name);
            if due.is_none() && on.dialect() != Dialect::Sqlite {
                continue;
            }
            let expected = due.map_or(&[][..], |(_, keys)| keys);
            let found = failing(on.as_mut(), check);
            let told = format!("{}: {} planted, {} tells {found:?}", server.url, self.says, check.name);
            assert_eq!(found.len(), expected.len(), "{told}");
            for (row, key) in found.iter().zip(expected) {
                let key: Vec<_> = key.iter().map(i64::to_string).collect();
                assert_eq!(row[..key.len()], key, "{told}");
                assert!(row.len() > key.len() && row.iter().any(|field| field != "Null"), "{told}");
            }
        }
        on.rollback().unwrap();
    }
}
