//! The world-readable files of /proc, and `io` where this user may read it.

pub mod io;
pub(crate) mod kept;
pub(crate) mod list;
pub mod once;
pub mod reader;
pub mod schedstat;
pub mod stat;
pub mod status;
pub(crate) mod task;
mod threads;

/// A decimal number that fills the whole field (spaces around it aside).
pub(crate) fn unsigned(field: &[u8]) -> Option<u64> {
    let digits = field.trim_ascii();
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |sum, &b| {
        let digit = b.checked_sub(b'0').filter(|&d| d < 10)?;
        sum.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// As `unsigned`, perhaps negative; a value over `i64::MAX` keeps its bits.
pub(crate) fn signed(field: &[u8]) -> Option<i64> {
    match field.strip_prefix(b"-") {
        Some(digits) => unsigned(digits).map(|v| (v as i64).wrapping_neg()),
        None => unsigned(field).map(|v| v as i64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_whole_numbers_are_numbers() {
        assert_eq!(unsigned(b" 42 "), Some(42));
        assert_eq!(unsigned(b""), None);
        assert_eq!(unsigned(b"4x"), None);
        assert_eq!(unsigned(b"99999999999999999999"), None);
    }

    proptest! {
        #[test]
        fn numbers_are_read_back(u: u64, s: i64) {
            prop_assert_eq!(unsigned(u.to_string().as_bytes()), Some(u));
            prop_assert_eq!(signed(s.to_string().as_bytes()), Some(s));
        }
    }
}
