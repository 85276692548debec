//! What the description draws, in the population and for transactions alike.

use crate::oltp::Random;

/// When a call forwarding may begin.
pub const STARTS: [i64; 3] = [0, 8, 16];
/// Of access info and of special facilities.
pub const TYPES: [i64; 4] = [1, 2, 3, 4];

/// A subscriber's number: the id in fifteen digits.
pub fn sub_nbr(s_id: i64) -> String {
    format!("{s_id:015}")
}

/// Fifteen digits.
pub fn numberx(random: &mut Random) -> String {
    sub_nbr(random.below(1_000_000_000_000_000) as i64)
}

/// 0 to 255.
pub fn byte(random: &mut Random) -> i64 {
    random.between(0, 255)
}

/// Where a subscriber is: 1 to 2^32 - 1.
pub fn location(random: &mut Random) -> i64 {
    random.between(1, i64::from(u32::MAX))
}

/// Capital letters.
pub fn letters(count: usize, random: &mut Random) -> String {
    (0..count).map(|_| char::from(b'A' + random.below(26) as u8)).collect()
}

/// `count` of these, each choice as likely as the next, in their order.
pub fn some<const N: usize>(mut among: [i64; N], count: usize, random: &mut Random) -> Vec<i64> {
    for place in 0..count {
        let other = random.between(place as i64, N as i64 - 1) as usize;
        among.swap(place, other);
    }
    let mut chosen = among[..count].to_vec();
    chosen.sort_unstable();
    chosen
}
