//! Epinions: a website where customers review items and say whose reviews they trust.
//!
//! Defined by OLTP-Bench (Difallah, Pavlo, Curino and Cudré-Mauroux, VLDB 2014) and its successor BenchBase. Scale 1 is
//! 2,000 users and 1,000 items; at most 500 reviews an item and 200 users trusted by one. All four grow with it.
//!
//! The published mix has nine types, not ten: eight of 10% and `update_trust_rating` with 20%, the last in its list.
//!
//! As published, where it may surprise:
//! - `review_rating` is never filled, and no transaction reads it.
//! - Users and items are drawn evenly: most updates of a review or of a trust find no row, and commit.
//! - Reviews have no primary key; neither has trust.
//!
//! Where this one departs from it:
//! - Review numbers are unique (there, each thread of the loader begins anew at 0), and all users may trust someone
//!   (there, only as many as there are items).
//! - A new rating is one of those that are loaded, 0 to 4 (there, any number below 1,000).
//! - Instants are spread over the three years before 2025 (there, all are that of the load), so ORDER BY has work to do.
//! - Averages have four digits behind the point; PostgreSQL's would have more than a parameter or a field here holds.
//! - Zipf's law is drawn exactly (there, by an approximation that does not hold for exponents above 1).
//! - Columns `rank`, `comment` and `type` are `review_rank`, `review_text` and `rating_type`: they are words of SQL.

mod checks;
mod fill;
mod population;
mod schema;
mod transactions;

use crate::oltp::workload::{TransactionType, kinds};
use crate::oltp::{Check, Failure, Kind, Mistake, Options, Part, Random, Rows, Table, Transaction, Workload};
use population::Population;
use transactions::{
    GetAverageRatingByTrustedUser, GetItemAverageRating, GetItemReviewsByTrustedUser, GetReviewItemById,
    GetReviewsByUser, UpdateItemTitle, UpdateReviewRating, UpdateTrustRating, UpdateUserName,
};

/// In the published order.
static TYPES: [TransactionType<Epinions>; 9] = [
    TransactionType::new("get_review_item_by_id", 10.0, false, |epinions, random, _| {
        Box::new(GetReviewItemById { item: epinions.population.item(random) })
    }),
    TransactionType::new("get_reviews_by_user", 10.0, false, |epinions, random, _| {
        Box::new(GetReviewsByUser { user: epinions.population.user(random) })
    }),
    TransactionType::new("get_average_rating_by_trusted_user", 10.0, false, |epinions, random, _| {
        let all = &epinions.population;
        Box::new(GetAverageRatingByTrustedUser { item: all.item(random), user: all.user(random) })
    }),
    TransactionType::new("get_item_average_rating", 10.0, false, |epinions, random, _| {
        Box::new(GetItemAverageRating { item: epinions.population.item(random) })
    }),
    TransactionType::new("get_item_reviews_by_trusted_user", 10.0, false, |epinions, random, _| {
        let all = &epinions.population;
        Box::new(GetItemReviewsByTrustedUser { item: all.item(random), user: all.user(random) })
    }),
    TransactionType::new("update_user_name", 10.0, true, |epinions, random, _| {
        Box::new(UpdateUserName::draw(&epinions.population, random))
    }),
    TransactionType::new("update_item_title", 10.0, true, |epinions, random, _| {
        Box::new(UpdateItemTitle::draw(&epinions.population, random))
    }),
    TransactionType::new("update_review_rating", 10.0, true, |epinions, random, _| {
        Box::new(UpdateReviewRating::draw(&epinions.population, random))
    }),
    TransactionType::new("update_trust_rating", 20.0, true, |epinions, random, _| {
        Box::new(UpdateTrustRating::draw(&epinions.population, random))
    }),
];
static KINDS: [Kind; 9] = kinds(&TYPES);

/// 20 users; below, hardly anyone trusts anyone.
const SMALLEST: f64 = 0.01;
/// Keys have 32 bits.
const LARGEST: f64 = 10_000.0;

/// At one scale.
pub struct Epinions {
    scale: f64,
    population: Population,
}

impl Epinions {
    /// Refuses scales out of range; there are no options.
    pub fn new(scale: f64, data_seed: u64, options: Options) -> Result<Self, Mistake> {
        if !(SMALLEST..=LARGEST).contains(&scale) {
            let wanted = "epinions' is its users in 2,000, give a number from 0.01 to 10000";
            return Err(Mistake(format!("scale {scale}: {wanted}")));
        }
        options.finish("epinions")?;
        Ok(Self { scale, population: Population::of(scale, data_seed) })
    }
}

impl Workload for Epinions {
    fn name(&self) -> &'static str {
        "epinions"
    }

    fn scale(&self) -> f64 {
        self.scale
    }

    fn kinds(&self) -> &'static [Kind] {
        &KINDS
    }

    fn tables(&self) -> &'static [Table] {
        &schema::TABLES
    }

    fn parts(&self) -> Vec<Part> {
        self.population.parts()
    }

    fn fill(&self, part: Part, rows: &mut dyn Rows) -> Result<(), Failure> {
        self.population.fill(part, rows)
    }

    fn draw(&self, kind: usize, random: &mut Random, home: Option<u64>) -> Box<dyn Transaction> {
        (TYPES[kind].draw)(self, random, home)
    }

    fn checks(&self) -> &'static [Check] {
        &checks::CHECKS
    }
}

#[cfg(test)]
mod tests;
