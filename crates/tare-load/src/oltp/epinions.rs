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
mod get_average_rating_by_trusted_user;
mod get_item_average_rating;
mod get_item_reviews_by_trusted_user;
mod get_review_item_by_id;
mod get_reviews_by_user;
mod population;
mod schema;
mod update_item_title;
mod update_review_rating;
mod update_trust_rating;
mod update_user_name;

use crate::oltp::{Check, Failure, Kind, Mistake, Options, Part, Random, Rows, Table, Transaction, Workload};
use get_average_rating_by_trusted_user::GetAverageRatingByTrustedUser;
use get_item_average_rating::GetItemAverageRating;
use get_item_reviews_by_trusted_user::GetItemReviewsByTrustedUser;
use get_review_item_by_id::GetReviewItemById;
use get_reviews_by_user::GetReviewsByUser;
use population::Population;
use update_item_title::UpdateItemTitle;
use update_review_rating::UpdateReviewRating;
use update_trust_rating::UpdateTrustRating;
use update_user_name::UpdateUserName;

const fn kind(name: &'static str, share: f64, writes: bool) -> Kind {
    Kind { name, share, writes, keying_s: 0.0, think_s: 0.0 }
}

/// In the published order.
static KINDS: [Kind; 9] = [
    kind("get_review_item_by_id", 10.0, false),
    kind("get_reviews_by_user", 10.0, false),
    kind("get_average_rating_by_trusted_user", 10.0, false),
    kind("get_item_average_rating", 10.0, false),
    kind("get_item_reviews_by_trusted_user", 10.0, false),
    kind("update_user_name", 10.0, true),
    kind("update_item_title", 10.0, true),
    kind("update_review_rating", 10.0, true),
    kind("update_trust_rating", 20.0, true),
];

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

    fn draw(&self, kind: usize, random: &mut Random, _home: Option<u64>) -> Box<dyn Transaction> {
        let all = &self.population;
        match kind {
            0 => Box::new(GetReviewItemById { item: all.item(random) }),
            1 => Box::new(GetReviewsByUser { user: all.user(random) }),
            2 => Box::new(GetAverageRatingByTrustedUser { item: all.item(random), user: all.user(random) }),
            3 => Box::new(GetItemAverageRating { item: all.item(random) }),
            4 => Box::new(GetItemReviewsByTrustedUser { item: all.item(random), user: all.user(random) }),
            5 => Box::new(UpdateUserName::draw(all, random)),
            6 => Box::new(UpdateItemTitle::draw(all, random)),
            7 => Box::new(UpdateReviewRating::draw(all, random)),
            _ => Box::new(UpdateTrustRating::draw(all, random)),
        }
    }

    fn checks(&self) -> &'static [Check] {
        &checks::CHECKS
    }
}

#[cfg(test)]
mod tests;
