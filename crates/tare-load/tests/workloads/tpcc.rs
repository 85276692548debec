//! TPC-C.

mod corruption;

use crate::harness::{Sending, workload};
use crate::servers::each_alone;

/// One load for all of it: two warehouses take seconds. Corruptions are rolled back.
#[test]
fn all_twelve_conditions_hold_as_loaded_and_after_users_and_each_names_what_is_planted_against_it() {
    each_alone(|server| {
        let tpcc = workload("tpcc", 2.0, &[]);
        server.load(&*tpcc);
        server.assert_whole(&*tpcc);
        corruption::CASES.iter().for_each(|case| case.plant(server, &*tpcc));
        for sending in [Sending::new(7, 1, 400), Sending::new(9, 8, 125)] {
            let tally = server.run(&*tpcc, sending);
            server.assert_whole(&*tpcc);
            assert!(tpcc.kinds().iter().all(|kind| tally.committed(kind.name) > 0), "{tally:?}");
            assert!(tally.rolled_back("new_order") > 0, "{tally:?}");
        }
    });
}
