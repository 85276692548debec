//! Last names of three syllables (clause 4.3.2.3).

const SYLLABLES: [&str; 10] =
    ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];

/// That of a number from 0 to 999: a syllable for each digit.
pub fn last_name(number: i64) -> String {
    [number / 100, number / 10 % 10, number % 10].map(|digit| SYLLABLES[digit as usize]).concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_of_the_specification() {
        assert_eq!(last_name(371), "PRICALLYOUGHT");
        assert_eq!(last_name(40), "BARPRESBAR");
        assert_eq!(last_name(999), "EINGEINGEING");
    }

    #[test]
    fn every_number_has_a_name_of_its_own_that_fits_its_column() {
        let names: std::collections::HashSet<_> = (0..1_000).map(last_name).collect();
        assert_eq!(names.len(), 1_000);
        assert!(names.iter().all(|name| name.len() <= 16));
    }
}
