//! `numeric` in binary: sign, digits to the base of 10,000, the first one's weight, and how many decimals are shown.

use bytes::{BufMut, BytesMut};

use crate::oltp::{Failure, Value};

const BASE: u128 = 10_000;
const DIGITS: u32 = 4;
const NEGATIVE: u16 = 0x4000;

/// Exactly `unscaled / 10^scale`. Of at most 40 decimals.
pub(super) fn write(unscaled: i64, scale: u8, out: &mut BytesMut) {
    let behind = u32::from(scale).div_ceil(DIGITS);
    // 19 digits and up to 3 more fit with room to spare.
    let mut rest = u128::from(unscaled.unsigned_abs()) * 10_u128.pow(behind * DIGITS - u32::from(scale));
    let mut groups = [0_i16; 8];
    let mut count = 0;
    while rest > 0 {
        groups[count] = (rest % BASE) as i16;
        rest /= BASE;
        count += 1;
    }
    let groups = &groups[..count];
    let trailing = groups.iter().take_while(|group| **group == 0).count();
    let weight = count as i16 - 1 - behind as i16;
    out.put_i16((count - trailing) as i16);
    out.put_i16(if count == 0 { 0 } else { weight });
    out.put_u16(if unscaled < 0 { NEGATIVE } else { 0 });
    out.put_u16(scale.into());
    groups[trailing..].iter().rev().for_each(|group| out.put_i16(*group));
}

/// With the scale it is shown with, or less if its last decimals are zeros that 64 bits do not hold.
pub(super) fn read(field: &[u8]) -> Result<Value, Failure> {
    let words: Vec<u16> = field.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
    let [count, weight, sign, scale, groups @ ..] = words.as_slice() else {
        return Err(Failure::foreign("a numeric of the database is cut short"));
    };
    if groups.len() != usize::from(*count) || (*sign != 0 && *sign != NEGATIVE) {
        return Err(Failure::foreign("a numeric of the database is no number"));
    }
    let (magnitude, scale) =
        shifted(groups, i32::from(*weight as i16), i32::from(*scale)).ok_or_else(too_long)?;
    let unscaled = if *sign == NEGATIVE { -magnitude } else { magnitude };
    Ok(Value::Decimal { unscaled: i64::try_from(unscaled).map_err(|_| too_long())?, scale })
}

/// Digits times ten to some power are to become digits over ten to `scale`.
fn shifted(groups: &[u16], weight: i32, scale: i32) -> Option<(i128, u8)> {
    let mut digits = 0_i128;
    for group in groups {
        digits = digits.checked_mul(BASE as i128)?.checked_add((*group).into())?;
    }
    if digits == 0 {
        return Some((0, u8::try_from(scale).ok()?));
    }
    // Of what stands in `digits`.
    let mut found = (groups.len() as i32 - 1 - weight) * DIGITS as i32;
    while digits % 10 == 0 && (found > scale || i64::try_from(digits).is_err()) {
        digits /= 10;
        found -= 1;
    }
    while found < scale && i64::try_from(digits.checked_mul(10)?).is_ok() || found < 0 {
        digits = digits.checked_mul(10)?;
        found += 1;
    }
    Some((digits, u8::try_from(found).ok()?))
}

/// As the server prints it; what `read` would have made of it.
pub(super) fn parse(text: &str) -> Result<Value, Failure> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let (mut scale, mut digits) = (decimals.len(), format!("{whole}{decimals}"));
    while digits.parse::<i64>().is_err() && scale > 0 && digits.ends_with('0') {
        digits.pop();
        scale -= 1;
    }
    let unscaled = digits.parse().map_err(|_| too_long())?;
    Ok(Value::Decimal { unscaled, scale: u8::try_from(scale).map_err(|_| too_long())? })
}

fn too_long() -> Failure {
    Failure::foreign("a numeric of the database has more digits than 64 bits hold")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(unscaled: i64, scale: u8) -> Vec<u8> {
        let mut out = BytesMut::new();
        write(unscaled, scale, &mut out);
        out.to_vec()
    }

    fn sent(words: &[u16]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn as_the_server_itself_sends_them() {
        // SELECT numeric_send(…)
        assert_eq!(written(0, 2), sent(&[0, 0, 0, 2]));
        assert_eq!(written(1_234_567, 2), sent(&[3, 1, 0, 2, 1, 2345, 6700])); // 12345.67
        assert_eq!(written(-5, 2), sent(&[1, 0xffff, 0x4000, 2, 500])); // -0.05
        assert_eq!(written(100_000_000, 0), sent(&[1, 2, 0, 0, 1])); // 100000000
        assert_eq!(written(1, 6), sent(&[1, 0xfffe, 0, 6, 100])); // 0.000001
    }

    #[test]
    fn a_mean_of_many_decimals_keeps_what_64_bits_hold() {
        // 5.0000000000000000 and 12345.000000000000000000000: zeros are given up, never digits.
        assert_eq!(read(&sent(&[1, 0, 0, 16, 5])).unwrap(), decimal(50_000_000_000_000_000, 16));
        let Value::Decimal { unscaled, scale } = read(&sent(&[2, 1, 0, 21, 1, 2345])).unwrap() else {
            panic!()
        };
        assert_eq!(i128::from(unscaled), 12_345 * 10_i128.pow(scale.into()));
    }

    #[test]
    fn what_64_bits_do_not_hold_is_said_so() {
        for words in
            [&[1, 5, 0, 0, 1][..], &[6, 0, 0, 20, 3, 3333, 3333, 3333, 3333, 3333], &[0, 0, 0xc000, 0], &[0]]
        {
            assert!(read(&sent(words)).is_err(), "{words:?}");
        }
    }

    fn decimal(unscaled: i64, scale: u8) -> Value {
        Value::Decimal { unscaled, scale }
    }

    #[test]
    fn what_is_printed_is_read_like_what_is_sent() {
        assert_eq!(parse("-0.05").unwrap(), decimal(-5, 2));
        assert_eq!(parse("12345.67").unwrap(), decimal(1_234_567, 2));
        assert_eq!(parse("5.0000000000000000").unwrap(), decimal(50_000_000_000_000_000, 16));
        assert_eq!(parse("12345.000000000000000000000").unwrap(), decimal(1_234_500_000_000_000_000, 14));
        assert!(parse("99999999999999999999").is_err() && parse("NaN").is_err());
    }

    proptest! {
        #[test]
        fn there_and_back(unscaled: i64, scale in 0_u8..=40) {
            prop_assert_eq!(read(&written(unscaled, scale)).unwrap(), decimal(unscaled, scale));
        }
    }
}
