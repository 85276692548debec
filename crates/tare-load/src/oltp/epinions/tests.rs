use std::collections::HashSet;

use crate::oltp::epinions::Epinions;
use crate::oltp::kept::{assert_fits, column, table};
use crate::oltp::{Options, Random, Value, Workload};

fn epinions(scale: f64) -> Epinions {
    Epinions::new(scale, 42, Options::default()).unwrap()
}

#[test]
fn scale_one_is_two_thousand_users_and_a_thousand_items() {
    let workload = epinions(1.0);
    let rows = |name| table(&workload, name).len();
    assert_eq!((rows("useracct"), rows("item"), rows("review_rating")), (2_000, 1_000, 0));
    // 6.9 reviews an item and 2.8 trusted users a user are the means of the two laws; their tails are heavy.
    assert!((5_000..9_000).contains(&rows("review")), "{}", rows("review"));
    assert!((3_500..8_500).contains(&rows("trust")), "{}", rows("trust"));
}

#[test]
fn a_part_has_as_many_rows_as_it_says() {
    let workload = epinions(7.5);
    for place in [0, 1, 2, 4] {
        let said: u64 =
            workload.parts().iter().filter(|part| part.table == place).map(|part| part.rows).sum();
        assert_eq!(table(&workload, workload.tables()[place].name).len() as u64, said);
    }
}

#[test]
fn every_value_fits_its_column() {
    assert_fits(&epinions(0.5));
}

#[test]
fn the_same_seed_makes_the_same_rows_and_another_makes_others() {
    let (one, same) = (epinions(0.1), epinions(0.1));
    let other = Epinions::new(0.1, 43, Options::default()).unwrap();
    for name in ["useracct", "item", "review", "trust"] {
        assert_eq!(table(&one, name), table(&same, name));
        assert_ne!(table(&one, name), table(&other, name));
    }
}

#[test]
fn reviews_and_trust_are_of_users_and_items_that_exist_and_of_none_twice() {
    let workload = epinions(6.0);
    let (users, items) = (0..12_000, 0..6_000);
    let reviews = table(&workload, "review");
    let pairs: HashSet<_> = column(&reviews, 2).into_iter().zip(column(&reviews, 1)).collect();
    assert_eq!(pairs.len(), reviews.len());
    assert!(pairs.iter().all(|(item, user)| items.contains(item) && users.contains(user)));
    assert_eq!(column(&reviews, 2).into_iter().collect::<HashSet<_>>().len(), 6_000, "each item has one");
    assert_eq!(column(&reviews, 0), (0..reviews.len() as i64).collect::<Vec<_>>());
    let trust = table(&workload, "trust");
    let pairs: HashSet<_> = column(&trust, 0).into_iter().zip(column(&trust, 1)).collect();
    assert_eq!(pairs.len(), trust.len());
    assert!(pairs.iter().all(|(source, target)| users.contains(source) && users.contains(target)));
}

#[test]
fn a_few_users_write_many_reviews_and_others_are_trusted_most() {
    let workload = epinions(1.0);
    let most = |name: &str, place: usize| {
        let mut counts = vec![0; 2_000];
        column(&table(&workload, name), place).into_iter().for_each(|user| counts[user as usize] += 1);
        let mut users: Vec<usize> = (0..2_000).collect();
        users.sort_by_key(|user| std::cmp::Reverse(counts[*user]));
        users.truncate(20);
        (users.iter().map(|user| counts[*user]).sum::<u64>(), users)
    };
    let (written, writers) = most("review", 1);
    let (_, trusted) = most("trust", 1);
    assert!(written > 1_000, "{written} by twenty; of 7,000, they would write 70 if all wrote alike");
    assert_eq!(writers[0], 0);
    assert!(trusted.iter().filter(|user| **user < 20).count() < 5, "{trusted:?}");
}

#[test]
fn the_shares_are_those_published() {
    let kinds = epinions(1.0).kinds();
    assert_eq!(kinds.iter().map(|kind| kind.share).sum::<f64>(), 100.0);
    assert_eq!(kinds.iter().filter(|kind| kind.writes).map(|kind| kind.share).sum::<f64>(), 50.0);
    assert_eq!(kinds.iter().find(|kind| kind.share == 20.0).unwrap().name, "update_trust_rating");
}

#[test]
fn users_and_items_are_drawn_evenly() {
    let workload = epinions(0.01);
    let mut random = Random::at(1, &[]);
    let mut counts = [0_u32; 20];
    (0..20_000).for_each(|_| counts[workload.population.user(&mut random) as usize] += 1);
    assert!(counts.iter().all(|count| (800..1_200).contains(count)), "{counts:?}");
}

#[test]
fn scales_and_options_that_make_no_sense_are_refused() {
    for scale in [0.0, 0.009, -1.0, f64::NAN, f64::INFINITY, 10_001.0] {
        assert!(Epinions::new(scale, 1, Options::default()).err().unwrap().0.contains("0.01"));
    }
    let odd = Options::new([("hot".to_owned(), "1".to_owned())].into());
    assert_eq!(Epinions::new(1.0, 1, odd).err().unwrap().0, "epinions has no option hot; it has: none");
}

#[test]
fn the_smallest_scale_has_someone_and_something() {
    let workload = epinions(0.01);
    assert_eq!(table(&workload, "item").len(), 10);
    assert!(table(&workload, "review").iter().all(|row| row[4] == Value::Null));
}
