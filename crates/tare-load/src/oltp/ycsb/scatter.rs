//! Where a rank's key lies: hot keys far from each other, and at the same place when the table grows.

/// The key in 0..keys that has this rank; many ranks share one when there are more ranks than keys.
///
/// YCSB takes the hash modulo the number of keys, which it must therefore know before it starts. Here inserts make
/// keys as they come: jump consistent hashing (Lamping and Veach, 2014) moves a rank with probability 1/keys when
/// one is added, and then only to that one.
pub fn scattered(rank: u64, keys: u64) -> u64 {
    let mut hash = fnv(rank);
    let (mut at, mut next) = (0, 0);
    while next < keys {
        at = next;
        hash = hash.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(1);
        let step = (1_u64 << 31) as f64 / ((hash >> 33) + 1) as f64;
        next = ((at + 1) as f64 * step) as u64;
    }
    at
}

/// FNV-1a (Fowler, Noll, Vo) of the number's eight bytes, the lowest first.
fn fnv(number: u64) -> u64 {
    number
        .to_le_bytes()
        .iter()
        .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{fnv, scattered};

    #[test]
    fn the_hash_is_fnv_1a() {
        let by_hand = (0..7)
            .fold((0xCBF2_9CE4_8422_2325_u64 ^ 0x61).wrapping_mul(0x0100_0000_01B3), |hash, _| {
                hash.wrapping_mul(0x0100_0000_01B3)
            });
        assert_eq!(fnv(0x61), by_hand);
    }

    proptest! {
        #[test]
        fn a_new_key_takes_ranks_from_the_others_and_moves_no_rank_between_them(rank: u64, keys in 1_u64..1_000_000) {
            let (before, after) = (scattered(rank, keys), scattered(rank, keys + 1));
            prop_assert!(before < keys);
            prop_assert!(after == before || after == keys);
        }
    }

    #[test]
    fn ranks_are_spread_evenly() {
        let (keys, ranks) = (100_usize, 1_000_000);
        let mut seen = vec![0_u32; keys];
        (0..ranks).for_each(|rank| seen[scattered(rank, keys as u64) as usize] += 1);
        let due = ranks as f64 / keys as f64;
        assert!(seen.iter().all(|count| (f64::from(*count) / due - 1.0).abs() < 0.05), "{seen:?}");
    }

    #[test]
    fn the_ten_hottest_of_a_million_are_no_neighbours() {
        let mut hottest: Vec<u64> = (0..10).map(|rank| scattered(rank, 1_000_000)).collect();
        hottest.sort_unstable();
        assert!(hottest.windows(2).all(|pair| pair[1] - pair[0] > 1000), "{hottest:?}");
    }
}
