//! YCSB.

use tare_load::oltp::{Ended, Mistake, Options, Random, find};

use crate::harness::{Planted, Sending, filled, heard, sent, workload};
use crate::servers::{Server, each_alone};

const CORE: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

#[test]
fn scale_counts_thousands_of_records() {
    for (scale, records) in [(0.001, 1), (0.5, 500), (12.0, 12_000)] {
        let ycsb = workload("ycsb", scale, &[]);
        assert_eq!(ycsb.parts().iter().map(|part| part.rows).sum::<u64>(), records);
        assert_eq!(filled(&*ycsb)[0].ints(0), (0..records as i64).collect::<Vec<_>>());
    }
}

#[test]
fn one_seed_makes_the_same_records_and_another_makes_others() {
    let of = |seed| filled(&*find("ycsb", 0.1, seed, Options::default()).unwrap());
    assert_eq!(of(1), of(1));
    assert_ne!(of(1)[0].rows[50], of(2)[0].rows[50]);
}

#[test]
fn one_seed_draws_the_same_transactions_and_another_draws_others() {
    for core in CORE {
        let drawn = |seed| heard(&*workload("ycsb", 1.0, &[("core", core)]), seed, 600);
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
    }
}

#[test]
fn every_mix_adds_up_and_knows_the_same_six_kinds() {
    let names = |kinds: &[tare_load::oltp::Kind]| kinds.iter().map(|kind| kind.name).collect::<Vec<_>>();
    let all = workload("ycsb", 1.0, &[]);
    for core in CORE {
        let ycsb = workload("ycsb", 1.0, &[("core", core)]);
        assert_eq!(names(ycsb.kinds()), names(all.kinds()));
        assert_eq!(ycsb.kinds().iter().map(|kind| kind.share).sum::<f64>(), 100.0);
    }
    assert_eq!(
        all.kinds().iter().map(|kind| kind.share).collect::<Vec<_>>(),
        [50.0, 5.0, 15.0, 10.0, 10.0, 10.0]
    );
}

#[test]
fn scans_are_as_long_as_they_may_be_and_no_longer() {
    let asked = heard(&*workload("ycsb", 1.0, &[("scan_length", "7")]), 1, 6000);
    let lengths: std::collections::BTreeSet<_> = asked
        .iter()
        .filter(|asked| asked.contains("LIMIT"))
        .map(|asked| asked.rsplit("Int(").next().unwrap())
        .collect();
    assert_eq!(
        lengths,
        (1..=7).map(|length| format!("{length})]")).collect::<Vec<_>>().iter().map(String::as_str).collect()
    );
}

#[test]
fn an_update_of_one_field_takes_each_field_in_its_turn() {
    let asked = heard(&*workload("ycsb", 1.0, &[("core", "a")]), 1, 6000);
    for field in 1..=10 {
        assert!(
            asked
                .iter()
                .any(|asked| asked.starts_with(&format!("UPDATE usertable SET field{field} = $2 WHERE")))
        );
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |scale, name: &str, text: &str| {
        let given = [(name.to_owned(), text.to_owned())].into();
        find("ycsb", scale, 1, Options::new(given)).err().unwrap()
    };
    assert_eq!(
        refused(1.0, "hot", "1"),
        Mistake("ycsb has no option hot; it has: core, distribution, theta, scan_length, read_fields, write_fields".into())
    );
    assert!(refused(f64::NAN, "core", "a").0.starts_with("scale = NaN: give thousands of records"));
}

#[test]
fn every_mix_leaves_whole_records_behind() {
    each_alone(|server| {
        for options in CORE.map(|core| vec![("core", core)]).into_iter().chain([vec![]]) {
            let ycsb = workload("ycsb", 1.0, &options);
            server.load(&*ycsb);
            server.assert_whole(&*ycsb);
            let tally = server.run(&*ycsb, Sending::new(3, 4, 300));
            assert_eq!(tally.sums(), [1200, 0], "{options:?} {tally:?}");
            for kind in ycsb.kinds() {
                let due = 12.0 * kind.share;
                let off = tally.committed(kind.name) as f64 - due;
                assert!(off.abs() <= 5.0 * due.sqrt(), "{options:?} {tally:?}");
            }
            server.assert_whole(&*ycsb);
        }
    });
}

#[test]
fn a_second_run_goes_on_where_the_first_left_off() {
    each_alone(|server| {
        let options = [("core", "d")];
        server.load(&*workload("ycsb", 0.5, &options));
        let tallies =
            [5, 6].map(|seed| server.run(&*workload("ycsb", 0.5, &options), Sending::new(seed, 4, 200)));
        assert!(tallies.iter().all(|tally| tally.rolled_back("insert") == 0), "{tallies:?}");
        let inserted: u64 = tallies.iter().map(|tally| tally.committed("insert")).sum();
        assert!(inserted > 40);
        assert_eq!(server.number("SELECT max(ycsb_key) FROM usertable"), 499 + inserted);
        assert_eq!(server.number("SELECT count(*) FROM usertable"), 500 + inserted);
    });
}

#[test]
fn two_drivers_at_once_roll_back_where_they_meet_and_lose_nothing() {
    each_alone(|server| {
        let pair = [0, 1].map(|_| workload("ycsb", 0.1, &[]));
        server.load(&*pair[0]);
        pair.iter().for_each(|ycsb| ycsb.meet(&mut *server.open()).unwrap());
        let mut on = server.open();
        let ends: Vec<_> = (0..400)
            .map(|number| {
                let insert = pair[number % 2].draw(1, &mut Random::at(9, &[number as u64]), None);
                sent(on.as_mut(), true, insert.as_ref())
            })
            .collect();
        let committed = ends.iter().filter(|ended| **ended == Ended::Commit).count();
        assert!((300..400).contains(&committed), "{committed} of 400");
        assert_eq!(server.number("SELECT count(*) FROM usertable"), 100 + committed as u64);
    });
}

#[test]
fn a_key_that_is_gone_is_no_failure() {
    each_alone(|server| {
        let ycsb = workload("ycsb", 0.001, &[]);
        server.load(&*ycsb);
        server.open().script("DELETE FROM usertable").unwrap();
        for kind in ["read", "scan", "update", "delete", "read_modify_write"] {
            assert_eq!(server.success(&*ycsb, kind, 20), 1.0, "{kind}");
        }
    });
}

#[test]
fn an_empty_table_is_told_before_a_run() {
    let (server, ycsb) = (Server::sqlite(), workload("ycsb", 0.001, &[]));
    server.load(&*ycsb);
    server.open().script("DELETE FROM usertable").unwrap();
    assert!(ycsb.meet(&mut *server.open()).unwrap_err().text.contains("load ycsb again"));
}

#[test]
fn each_condition_names_the_row_that_breaks_it() {
    each_alone(|server| {
        let ycsb = workload("ycsb", 0.1, &[]);
        server.load(&*ycsb);
        let moved = "UPDATE usertable SET ycsb_key = -3 WHERE ycsb_key = 3";
        let short = "UPDATE usertable SET field2 = 'short' WHERE ycsb_key = 42";
        let planted =
            [Planted::new("keys", moved, &["-3"]), Planted::new("fields", short, &["42", "100", "5"])];
        server.assert_found(&*ycsb, &planted);
    });
}
