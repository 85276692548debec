//! TPC-C.

mod corruption;

use tare_load::oltp::Workload;

use crate::harness::{Sending, workload};
use crate::servers::{Server, each_alone};

fn loaded(server: &Server) -> Box<dyn Workload> {
    let tpcc = workload("tpcc", 2.0, &[]);
    server.load(&*tpcc);
    tpcc
}

#[test]
fn what_was_loaded_meets_all_twelve_conditions_and_so_does_what_users_make_of_it() {
    each_alone(|server| {
        let tpcc = loaded(server);
        server.assert_whole(&*tpcc);
        for sending in [Sending::new(7, 1, 1000), Sending::new(8, 8, 250)] {
            let tally = server.run(&*tpcc, sending);
            server.assert_whole(&*tpcc);
            assert!(tpcc.kinds().iter().all(|kind| tally.committed(kind.name) > 0), "{tally:?}");
            assert!(tally.rolled_back("new_order") > 0, "{tally:?}");
        }
    });
}

#[test]
fn every_condition_names_the_rows_of_a_planted_corruption_and_no_other_condition_fails_without_cause() {
    each_alone(|server| {
        let tpcc = loaded(server);
        corruption::CASES.iter().for_each(|case| case.plant(server, &*tpcc));
    });
}
