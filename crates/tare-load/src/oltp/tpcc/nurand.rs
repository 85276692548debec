//! Non-uniform random numbers (clause 2.1.6).

use crate::oltp::Random;
use crate::oltp::tpcc::schema::{CUSTOMERS, ITEMS};

/// Apart from every table's stream.
const STREAM: u64 = 1_000;

const LAST_NAMES: (i64, i64, i64) = (255, 0, 999);
const CUSTOMER_IDS: (i64, i64, i64) = (1_023, 1, CUSTOMERS);
const ITEM_IDS: (i64, i64, i64) = (8_191, 1, ITEMS);

/// The constants C, one for each field that is drawn so.
///
/// All are derived from the seed of the data, so that every terminal, and every run over the same data, has the same
/// hot rows. A last name's differ between load and run, as clause 2.1.6.1 has it.
#[derive(Clone, Copy, Debug)]
pub struct NonUniform {
    last_name_load: i64,
    last_name_run: i64,
    customer: i64,
    item: i64,
}

impl NonUniform {
    /// Those of a seed.
    pub fn of(seed: u64) -> Self {
        let mut random = Random::at(seed, &[STREAM]);
        let last_name_load = random.between(0, LAST_NAMES.0);
        Self {
            last_name_load,
            last_name_run: for_the_run(last_name_load, &mut random),
            customer: random.between(0, CUSTOMER_IDS.0),
            item: random.between(0, ITEM_IDS.0),
        }
    }

    /// The number of a last name, to be loaded.
    pub fn last_name_loaded(&self, random: &mut Random) -> i64 {
        nurand(random, LAST_NAMES, self.last_name_load)
    }

    /// The number of a last name, to be looked up.
    pub fn last_name(&self, random: &mut Random) -> i64 {
        nurand(random, LAST_NAMES, self.last_name_run)
    }

    /// A customer's number in its district.
    pub fn customer(&self, random: &mut Random) -> i64 {
        nurand(random, CUSTOMER_IDS, self.customer)
    }

    /// An item's number.
    pub fn item(&self, random: &mut Random) -> i64 {
        nurand(random, ITEM_IDS, self.item)
    }
}

fn nurand(random: &mut Random, (a, low, high): (i64, i64, i64), c: i64) -> i64 {
    ((random.between(0, a) | random.between(low, high)) + c) % (high - low + 1) + low
}

/// From 65 to 119 away from that of the load, but neither 96 nor 112.
fn for_the_run(load: i64, random: &mut Random) -> i64 {
    loop {
        let run = random.between(0, LAST_NAMES.0);
        if is_apart(load, run) {
            return run;
        }
    }
}

fn is_apart(load: i64, run: i64) -> bool {
    let delta = (run - load).abs();
    (65..=119).contains(&delta) && delta != 96 && delta != 112
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constants_of_load_and_run_are_as_far_apart_as_asked_for() {
        for seed in 0..10_000 {
            let constants = NonUniform::of(seed);
            assert!(
                is_apart(constants.last_name_load, constants.last_name_run),
                "seed {seed}: {constants:?}"
            );
            assert!((0..=255).contains(&constants.last_name_run));
        }
        for (delta, apart) in
            [(64, false), (65, true), (96, false), (97, true), (112, false), (119, true), (120, false)]
        {
            assert_eq!((is_apart(10, 10 + delta), is_apart(10 + delta, 10)), (apart, apart), "{delta}");
        }
    }

    #[test]
    fn a_small_field_is_drawn_as_counting_all_of_its_pairs_says() {
        let (a, low, high, c) = (3, 1, 6, 2);
        let mut expected = [0.0_f64; 7];
        for left in 0..=a {
            for right in low..=high {
                expected[(((left | right) + c) % (high - low + 1) + low) as usize] += 1.0 / 24.0;
            }
        }
        let mut random = Random::at(7, &[]);
        let mut found = [0.0_f64; 7];
        for _ in 0..240_000 {
            found[nurand(&mut random, (a, low, high), c) as usize] += 1.0 / 240_000.0;
        }
        for (value, (expected, found)) in expected.iter().zip(found).enumerate() {
            assert!((expected - found).abs() < 0.004, "{value}: {found} where {expected} is expected");
        }
    }

    #[test]
    fn every_field_stays_in_its_range_and_some_values_are_hot() {
        let constants = NonUniform::of(1);
        let mut random = Random::at(2, &[]);
        let mut customers = vec![0_u32; CUSTOMERS as usize + 1];
        for _ in 0..300_000 {
            assert!((0..=999).contains(&constants.last_name(&mut random)));
            assert!((1..=ITEMS).contains(&constants.item(&mut random)));
            customers[constants.customer(&mut random) as usize] += 1;
        }
        assert_eq!(customers[0], 0);
        assert!(*customers.iter().max().unwrap() > 500, "uniform would be about 100 each");
    }
}
