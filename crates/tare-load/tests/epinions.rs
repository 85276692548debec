//! Epinions on real databases.

mod workloads;

use tare_load::oltp::{Isolation, Options, Workload, find};
use workloads::{Database, Load, Planted, each, first};

fn epinions() -> Box<dyn Workload> {
    find("epinions", 0.2, 42, Options::default()).unwrap()
}

#[test]
fn the_conditions_hold_before_and_after_thousands_of_transactions() {
    each(|database| {
        let workload = epinions();
        database.load(workload.as_ref());
        database.assert_holds(workload.as_ref());
        for (seed, isolation) in [(1, Isolation::ReadCommitted), (2, Isolation::RepeatableRead)] {
            let tally = database.run(
                workload.as_ref(),
                isolation,
                Load { seed, threads: 4, each: 500, alike: false },
            );
            for kind in workload.kinds() {
                assert!(tally.committed(kind.name) > 100, "{}: {tally:?}", kind.name);
                assert_eq!(tally.rolled_back(kind.name), 0);
            }
            database.assert_holds(workload.as_ref());
        }
    });
}

#[test]
fn each_condition_names_the_row_that_breaks_it() {
    each(|database| {
        let workload = epinions();
        database.load(workload.as_ref());
        database.assert_found(workload.as_ref(), &planted(database));
        database.assert_holds(workload.as_ref());
    });
}

fn planted(database: &Database) -> Vec<Planted> {
    let mut on = database.open(Isolation::ReadCommitted);
    let review = first(on.as_mut(), "SELECT u_id, i_id FROM review WHERE a_id = 3");
    let trust = first(on.as_mut(), "SELECT source_u_id, target_u_id FROM trust ORDER BY 1, 2 LIMIT 1");
    let is_trust = format!("source_u_id = {} AND target_u_id = {}", trust[0], trust[1]);
    let one = |check, plant: &str, mend: &str, keys: &[&str]| Planted {
        check,
        plant: vec![plant.to_owned()],
        mend: vec![mend.to_owned()],
        keys: keys.iter().map(|key| (*key).to_owned()).collect(),
    };
    let shift = |check, column: &str, by: i64, key: &str, keys: &[&str]| {
        let moved = |by: i64| format!("UPDATE review SET {column} = {column} + {by} WHERE {key}");
        one(check, &moved(by), &moved(-by), keys)
    };
    vec![
        shift("review_user", "u_id", 1_000_000, "a_id = 3", &["3"]),
        shift("review_item", "i_id", 1_000_000, "a_id = 3", &["3"]),
        one(
            "review_number",
            "INSERT INTO review (a_id, u_id, i_id, rating, creation_date) \
             SELECT a_id, -1, -1, 0, creation_date FROM review WHERE a_id = 3",
            "DELETE FROM review WHERE u_id = -1",
            &["3", "2"],
        ),
        one(
            "review_once",
            "INSERT INTO review (a_id, u_id, i_id, rating, creation_date) \
             SELECT -1, u_id, i_id, 0, creation_date FROM review WHERE a_id = 3",
            "DELETE FROM review WHERE a_id = -1",
            &[&review[1], &review[0], "2"],
        ),
        one(
            "item_reviewed",
            "INSERT INTO item SELECT 1000000, title, description, creation_date FROM item WHERE i_id = 1",
            "DELETE FROM item WHERE i_id = 1000000",
            &["1000000"],
        ),
        shift("rating_range", "rating", 5, "a_id = 3", &["3"]),
        one(
            "review_rating",
            "INSERT INTO review_rating (u_id, a_id, rating, status) VALUES (1, -5, 1, 1)",
            "DELETE FROM review_rating",
            &["1", "-5"],
        ),
        one(
            "trust_user",
            &format!("UPDATE trust SET trust = trust + 7, source_u_id = -1 WHERE {is_trust}"),
            &format!("UPDATE trust SET trust = trust - 7, source_u_id = {} WHERE source_u_id = -1", trust[0]),
            &["-1", &trust[1]],
        ),
        one(
            "trust_once",
            &format!(
                "INSERT INTO trust SELECT source_u_id, target_u_id, 7, creation_date FROM trust WHERE {is_trust}"
            ),
            "DELETE FROM trust WHERE trust = 7",
            &[&trust[0], &trust[1], "2"],
        ),
        one(
            "trust_range",
            &format!("UPDATE trust SET trust = trust - 2 WHERE {is_trust}"),
            &format!("UPDATE trust SET trust = trust + 2 WHERE {is_trust}"),
            &[&trust[0], &trust[1]],
        ),
    ]
}
