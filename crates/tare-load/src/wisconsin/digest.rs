//! A sum over a relation that every DBMS can compute too: 64 bits are enough, and the order of tuples is of no account.

use super::permutation::{Permutation, WrongSize};
use super::tuple::Tuple;

const PRIME: u64 = (1 << 31) - 1;

/// The k-th integer's weight is `FIRST_WEIGHT + k · STEP`: each is more than 32 bits wide, so that SQL multiplies in 64.
const FIRST_WEIGHT: u64 = 2_654_435_761;
const STEP: u64 = 1_000_000_007;

/// Σ ((Σ weight · integer) mod p) · (unique2 + 1) mod p over the first `tuples` of a relation of `size`, p = 2^31 − 1.
///
/// The product ties each integer to its tuple's place: values that changed places with others', or a tuple
/// that took another's, give another sum.
///
/// # Errors
/// `WrongSize` for a size that no relation has, or more tuples than the relation has.
pub fn digest(size: u32, tuples: u32) -> Result<u64, WrongSize> {
    if tuples > size {
        return Err(WrongSize(tuples));
    }
    let permutation = Permutation::new(size)?;
    Ok((0..tuples).zip(permutation).map(|(unique2, unique1)| of(Tuple { unique1, unique2 })).sum())
}

fn of(tuple: Tuple) -> u64 {
    let weights = (0..).map(|k| FIRST_WEIGHT + k * STEP);
    let sum: u64 =
        tuple.integers().into_iter().zip(weights).map(|(value, weight)| u64::from(value) * weight).sum();
    sum % PRIME * (u64::from(tuple.unique2) + 1) % PRIME
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::permutation::LARGEST;
    use super::*;

    #[test]
    fn nothing_on_the_way_is_wider_than_a_signed_64_bits() {
        let last = Tuple { unique1: LARGEST - 1, unique2: LARGEST - 1 };
        let most: u128 = last
            .integers()
            .into_iter()
            .zip(0_u128..)
            .map(|(value, k)| u128::from(value.max(199)) * u128::from(FIRST_WEIGHT + k as u64 * STEP))
            .sum();
        assert!(most < 1 << 63);
        assert!(u128::from(PRIME) * u128::from(LARGEST) < 1 << 63);
    }

    #[test]
    fn a_beginning_of_a_relation_has_a_sum_of_its_own() {
        let sums: Vec<u64> = [998, 999, 1_000].map(|tuples| digest(1_000, tuples).unwrap()).to_vec();
        assert!(sums[0] < sums[1] && sums[1] < sums[2]);
        assert_eq!(digest(1_000, 1_001), Err(WrongSize(1_001)));
    }

    proptest! {
        #[test]
        fn two_tuples_that_exchange_their_keys_are_noticed(
            a in 0..LARGEST, b in 0..LARGEST, i in 0..LARGEST, k in 0..LARGEST,
        ) {
            prop_assume!(a != b && i != k);
            let sum = |a, b| of(Tuple { unique1: a, unique2: i }) + of(Tuple { unique1: b, unique2: k });
            prop_assert_ne!(sum(a, b), sum(b, a));
        }
    }
}
