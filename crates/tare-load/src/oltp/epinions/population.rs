//! Who there is, who reviewed what and who trusts whom: all of it follows from the seed.

use std::collections::HashSet;

use crate::oltp::epinions::schema::{ITEM, REVIEW, TRUST, USER};
use crate::oltp::skewed::Skewed;
use crate::oltp::{Part, Random};

const USERS: f64 = 2_000.0;
const ITEMS: f64 = 1_000.0;
const MOST_REVIEWS: f64 = 500.0;
const MOST_TRUSTED: f64 = 200.0;

/// Of users who write reviews, and of lengths.
pub const USUAL_SKEW: f64 = 0.99;
/// Of reviews an item has.
const REVIEWS_SKEW: f64 = 1.8;
/// Of users that one trusts.
const TRUSTED_SKEW: f64 = 1.95;
/// Ranks of trusted users before they are scattered over the users: many more than these, so that none stands out as
/// much as the first reviewer.
const TRUSTED_RANKS: u64 = 10_000_000_000;

/// Streams of the seed, besides those of the tables' rows.
const REVIEWS_OF: u64 = 100;
const TRUSTED_BY: u64 = 101;
const SCATTERED: u64 = 102;

/// Users or items whose rows (of whatever table) are loaded at once.
pub const AT_ONCE: u64 = 5_000;

/// At one scale.
pub struct Population {
    pub seed: u64,
    pub users: u64,
    pub items: u64,
    reviews: Skewed,
    reviewers: Skewed,
    trusted: Skewed,
    trusted_users: Skewed,
    /// Of each part of items, and the end.
    first_review: Vec<u64>,
}

impl Population {
    /// All sizes grow with the scale.
    pub fn of(scale: f64, seed: u64) -> Self {
        let size = |base: f64| ((base * scale).round() as u64).max(1);
        let mut all = Self {
            seed,
            users: size(USERS),
            items: size(ITEMS),
            reviews: Skewed::new(size(MOST_REVIEWS), REVIEWS_SKEW),
            reviewers: Skewed::new(size(USERS), USUAL_SKEW),
            trusted: Skewed::new(size(MOST_TRUSTED), TRUSTED_SKEW),
            trusted_users: Skewed::new(TRUSTED_RANKS, USUAL_SKEW),
            first_review: vec![0],
        };
        for number in 0..all.items.div_ceil(AT_ONCE) {
            let here: u64 = slice(number, all.items).map(|item| all.reviews_of(item)).sum();
            all.first_review.push(all.first_review[number as usize] + here);
        }
        all
    }

    /// Every table's but that of `review_rating`, which stays empty.
    pub fn parts(&self) -> Vec<Part> {
        let of = |table, count: u64, rows: &dyn Fn(u64) -> u64| -> Vec<Part> {
            (0..count.div_ceil(AT_ONCE)).map(|number| Part { table, number, rows: rows(number) }).collect()
        };
        let trusted = |number| slice(number, self.users).map(|user| self.trusted_by(user)).sum();
        let reviews =
            |number: u64| self.first_review[number as usize + 1] - self.first_review[number as usize];
        [
            of(USER, self.users, &|number| slice(number, self.users).count() as u64),
            of(ITEM, self.items, &|number| slice(number, self.items).count() as u64),
            of(REVIEW, self.items, &reviews),
            of(TRUST, self.users, &trusted),
        ]
        .concat()
    }

    /// Any, as likely as the next.
    pub fn user(&self, random: &mut Random) -> i64 {
        random.below(self.users) as i64
    }

    /// Any, as likely as the next.
    pub fn item(&self, random: &mut Random) -> i64 {
        random.below(self.items) as i64
    }

    /// Of a part of the items.
    pub fn first_review(&self, number: u64) -> i64 {
        self.first_review[number as usize] as i64
    }

    /// At least one.
    pub fn reviews_of(&self, item: u64) -> u64 {
        self.reviews.rank(&mut Random::at(self.seed, &[REVIEWS_OF, item])) + 1
    }

    /// Perhaps none.
    pub fn trusted_by(&self, user: u64) -> u64 {
        self.trusted.rank(&mut Random::at(self.seed, &[TRUSTED_BY, user]))
    }

    /// Of an item: all different.
    pub fn reviewers(&self, count: u64, random: &mut Random) -> Vec<u64> {
        distinct(count, || self.reviewers.rank(random))
    }

    /// By a user: all different. They are not those who write most of the reviews.
    pub fn trusted(&self, count: u64, random: &mut Random) -> Vec<u64> {
        distinct(count, || {
            let rank = self.trusted_users.rank(random);
            Random::at(self.seed, &[SCATTERED, rank]).below(self.users)
        })
    }
}

/// A part of so many users or items.
pub fn slice(number: u64, of: u64) -> std::ops::Range<u64> {
    number * AT_ONCE..((number + 1) * AT_ONCE).min(of)
}

/// As they come, without those that came before.
fn distinct(count: u64, draw: impl FnMut() -> u64) -> Vec<u64> {
    let mut seen = HashSet::with_capacity(count as usize);
    std::iter::repeat_with(draw).filter(|one| seen.insert(*one)).take(count as usize).collect()
}
