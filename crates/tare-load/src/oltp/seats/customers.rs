//! Who lives near which airport: customers are numbered airport by airport, from 1, as many as it has departures.

use std::ops::Range;

use crate::oltp::Random;
use crate::oltp::seats::world::{AIRPORTS, World};

/// By airport.
pub struct Customers {
    /// Of each airport, and the end.
    first: Vec<u64>,
    /// Airports that have customers: at small scales, not all do.
    homes: Vec<usize>,
}

impl Customers {
    /// So many in all.
    pub fn at_home(count: u64, world: &World) -> Self {
        let total = u128::from(world.traffic.total());
        let before = |airport| (u128::from(count) * u128::from(world.traffic.before(airport)) / total) as u64;
        let first: Vec<u64> = (0..AIRPORTS).map(before).chain([count]).map(|fewer| fewer + 1).collect();
        let homes = (0..AIRPORTS).filter(|airport| first[*airport] < first[airport + 1]).collect();
        Self { first, homes }
    }

    /// From 1.
    pub fn all(&self) -> Range<u64> {
        self.first[0]..self.first[AIRPORTS]
    }

    /// Where he lives.
    pub fn home(&self, customer: u64) -> usize {
        self.first.partition_point(|first| *first <= customer) - 1
    }

    /// One who lives there; anyone, if nobody does.
    pub fn of(&self, airport: usize, random: &mut Random) -> u64 {
        let here = self.first[airport]..self.first[airport + 1];
        if here.is_empty() { self.anyone(random) } else { here.start + random.below(here.end - here.start) }
    }

    /// Of any airport, each as likely as the next; those who live near a small one come up more often.
    pub fn anyone(&self, random: &mut Random) -> u64 {
        let airport = *random.one_of(&self.homes);
        self.of(airport, random)
    }
}

/// What he logs in with.
pub fn login(customer: i64) -> String {
    format!("{customer:016}")
}
