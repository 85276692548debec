//! Epinions.

use tare_load::oltp::{Isolation, Workload};

use crate::harness::{Planted, Sending, workload};
use crate::servers::{Server, each_alone};

fn epinions() -> Box<dyn Workload> {
    workload("epinions", 0.2, &[])
}

#[test]
fn the_conditions_hold_before_and_after_thousands_of_transactions() {
    each_alone(|server| {
        let epinions = epinions();
        server.load(&*epinions);
        server.assert_whole(&*epinions);
        for (seed, isolation) in [(1, Isolation::ReadCommitted), (2, Isolation::RepeatableRead)] {
            let tally = server.run(&*epinions, Sending::new(seed, 4, 500).at(isolation));
            for kind in epinions.kinds() {
                assert!(tally.committed(kind.name) > 100, "{}: {tally:?}", kind.name);
                assert_eq!(tally.rolled_back(kind.name), 0);
            }
            server.assert_whole(&*epinions);
        }
    });
}

#[test]
fn each_condition_names_the_row_that_breaks_it() {
    each_alone(|server| {
        let epinions = epinions();
        server.load(&*epinions);
        server.assert_found(&*epinions, &planted(server));
    });
}

fn planted(server: &Server) -> Vec<Planted> {
    let review = server.first("SELECT u_id, i_id FROM review WHERE a_id = 3");
    let trust = server.first("SELECT source_u_id, target_u_id FROM trust ORDER BY 1, 2 LIMIT 1");
    let is_trust = format!("source_u_id = {} AND target_u_id = {}", trust[0], trust[1]);
    let one = Planted::new;
    let review_of = |change: &str| format!("UPDATE review SET {change} WHERE a_id = 3");
    let trust_of = |change: &str| format!("UPDATE trust SET {change} WHERE {is_trust}");
    let review_again = |number: &str, of: &str| {
        format!(
            "INSERT INTO review (a_id, u_id, i_id, rating, creation_date) \
             SELECT {number}, {of}, 0, creation_date FROM review WHERE a_id = 3"
        )
    };
    let unreviewed =
        "INSERT INTO item SELECT 1000000, title, description, creation_date FROM item WHERE i_id = 1";
    let rated = "INSERT INTO review_rating (u_id, a_id, rating, status) VALUES (1, -5, 1, 1)";
    let trust_again = format!(
        "INSERT INTO trust SELECT source_u_id, target_u_id, 7, creation_date FROM trust WHERE {is_trust}"
    );
    vec![
        one("review_user", &review_of("u_id = u_id + 1000000"), &["3"]),
        one("review_item", &review_of("i_id = i_id + 1000000"), &["3"]),
        one("review_number", &review_again("a_id", "-1, -1"), &["3", "2"]),
        one("review_once", &review_again("-1", "u_id, i_id"), &[&review[1], &review[0], "2"]),
        one("item_reviewed", unreviewed, &["1000000"]),
        one("rating_range", &review_of("rating = rating + 5"), &["3"]),
        one("review_rating", rated, &["1", "-5"]),
        one("trust_user", &trust_of("source_u_id = -1"), &["-1", &trust[1]]),
        one("trust_once", &trust_again, &[&trust[0], &trust[1], "2"]),
        one("trust_range", &trust_of("trust = trust - 2"), &[&trust[0], &trust[1]]),
    ]
}
