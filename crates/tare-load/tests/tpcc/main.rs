//! TPC-C on real DBMSs: SQLite in a temporary file, and every server of `TARE_LOAD_URLS`, a list with commas.
//!
//! Each is loaded once; the tests take turns on it.

mod corruption;
mod place;

use std::collections::BTreeMap;
use std::thread;

use place::{Place, each};
use tare_load::oltp::{Connection, Ended, Failure, Random, Workload};

/// What became of transactions, by type.
#[derive(Default, Debug)]
struct Done {
    committed: BTreeMap<&'static str, u64>,
    rolled_back: u64,
    retried: u64,
}

impl Done {
    fn with(mut self, other: Self) -> Self {
        for (name, count) in other.committed {
            *self.committed.entry(name).or_default() += count;
        }
        self.rolled_back += other.rolled_back;
        self.retried += other.retried;
        self
    }
}

/// As a driver does: the default mix, tried again where that may help.
fn enter(place: &Place, user: u64, count: u64) -> Done {
    let (tpcc, mut on) = (place.workload(), place.open());
    let mut done = Done::default();
    let mut random = Random::at(place::RUN_SEED, &[user]);
    for number in 0..count {
        let kind = drawn_kind(tpcc.as_ref(), &mut random);
        let drawn = || Random::at(place::RUN_SEED, &[user, number]);
        let transaction = tpcc.draw(kind, &mut drawn(), Some(user));
        let ended = loop {
            match once(on.as_mut(), tpcc.kinds()[kind].writes, |on| transaction.run(on)) {
                Ok(ended) => break ended,
                Err(failure) if failure.trouble.passes() => done.retried += 1,
                Err(failure) => panic!("{}: {failure}", tpcc.kinds()[kind].name),
            }
        };
        match ended {
            Ended::Commit => *done.committed.entry(tpcc.kinds()[kind].name).or_default() += 1,
            Ended::RollBack => done.rolled_back += 1,
        }
    }
    done
}

fn once(
    on: &mut dyn Connection,
    writes: bool,
    run: impl Fn(&mut dyn Connection) -> Result<Ended, Failure>,
) -> Result<Ended, Failure> {
    on.begin(writes)?;
    let ended = match run(on) {
        Ok(Ended::Commit) => on.commit().map(|()| Ended::Commit),
        Ok(Ended::RollBack) => on.rollback().map(|()| Ended::RollBack),
        Err(failure) => Err(failure),
    };
    if ended.is_err() {
        on.rollback()?;
    }
    ended
}

fn drawn_kind(tpcc: &dyn Workload, random: &mut Random) -> usize {
    let mut point = random.unit() * 100.0;
    tpcc.kinds()
        .iter()
        .position(|kind| {
            point -= kind.share;
            point < 0.0
        })
        .unwrap_or_default()
}

/// Names of conditions that do not hold.
fn failing(place: &Place) -> Vec<&'static str> {
    let mut on = place.open();
    let rows = |check: &'static tare_load::oltp::Check| on.rows(&check.failing, &[]).unwrap();
    let checks = place.workload().checks();
    checks
        .iter()
        .map(rows)
        .zip(checks)
        .filter(|(rows, _)| !rows.is_empty())
        .map(|(_, check)| check.name)
        .collect()
}

#[test]
fn what_was_loaded_meets_all_twelve_conditions_and_so_does_what_users_make_of_it() {
    each(|place| {
        assert_eq!(failing(place), Vec::<&str>::new(), "after loading");
        let alone = enter(place, 0, place.transactions());
        assert_eq!(failing(place), Vec::<&str>::new(), "after {alone:?}");
        let together = thread::scope(|scope| {
            let users: Vec<_> = (1..=8)
                .map(|user| scope.spawn(move || enter(place, user, place.transactions() / 4)))
                .collect();
            users.into_iter().map(|user| user.join().unwrap()).fold(Done::default(), Done::with)
        });
        assert_eq!(failing(place), Vec::<&str>::new(), "after {together:?}");
        println!("{}: alone {alone:?}, together {together:?}", place.name());
        let done = alone.with(together);
        assert!(done.committed.len() == 5 && done.rolled_back > 0, "{done:?}");
    });
}

#[test]
fn every_condition_names_the_rows_of_a_planted_corruption_and_no_other_condition_fails_without_cause() {
    each(|place| corruption::CASES.iter().for_each(|case| case.plant(place)));
}
