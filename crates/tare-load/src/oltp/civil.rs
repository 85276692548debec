//! An instant as date and time of day, in UTC.

/// Of the proleptic Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Civil {
    pub year: i64,
    pub month: u32,
    pub day: u32,
    pub hour: u32,
    pub minute: u32,
    pub second: u32,
    pub micro: u32,
}

const DAY: i64 = 86_400_000_000;
/// Four centuries, after which the calendar repeats itself.
const ERA_DAYS: i64 = 146_097;
/// From 0000-03-01, the first day of an era that ends with a leap day, to 1970-01-01.
const EPOCH_DAY: i64 = 719_468;

impl Civil {
    /// Of microseconds since 1970.
    pub fn at(micros: i64) -> Self {
        let (year, month, day) = date(micros.div_euclid(DAY));
        let of_day = micros.rem_euclid(DAY);
        let seconds = (of_day / 1_000_000) as u32;
        Self {
            year,
            month,
            day,
            hour: seconds / 3600,
            minute: seconds / 60 % 60,
            second: seconds % 60,
            micro: (of_day % 1_000_000) as u32,
        }
    }

    /// Of `2025-01-31 23:59:59.000001`, with any number of digits behind the point up to six.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let mut numbers = whole.split(['-', ' ', ':']).map(|part| part.parse::<u32>().ok());
        let mut next = || numbers.next()?;
        let (year, month, day) = (next()?.into(), next()?, next()?);
        let (hour, minute, second) = (next()?, next()?, next()?);
        let micro = format!("{decimals:0<6}").parse().ok()?;
        Some(Self { year, month, day, hour, minute, second, micro })
    }

    /// Microseconds since 1970.
    pub fn micros(self) -> i64 {
        let of_day = (self.hour * 60 + self.minute) * 60 + self.second;
        days(self.year, self.month, self.day) * DAY + i64::from(of_day) * 1_000_000 + i64::from(self.micro)
    }
}

/// Since 1970; undoes `date`.
fn days(year: i64, month: u32, day: u32) -> i64 {
    let year = year - i64::from(month <= 2);
    let of_era = year.rem_euclid(400);
    let from_march = if month > 2 { month - 3 } else { month + 9 };
    let of_year = i64::from((153 * from_march + 2) / 5 + day) - 1;
    year.div_euclid(400) * ERA_DAYS + of_era * 365 + of_era / 4 - of_era / 100 + of_year - EPOCH_DAY
}

/// Years are counted from March, so that a leap day is the last of its year and months need no table.
fn date(days_since_1970: i64) -> (i64, u32, u32) {
    let days = days_since_1970 + EPOCH_DAY;
    let era = days.div_euclid(ERA_DAYS);
    let of_era = days.rem_euclid(ERA_DAYS);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month as u32, day as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(micros: i64) -> (i64, u32, u32) {
        let civil = Civil::at(micros);
        (civil.year, civil.month, civil.day)
    }

    #[test]
    fn every_day_of_eight_centuries_follows_the_one_before() {
        let length = |year: i64, month: u32| match month {
            2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let mut expected = (1970, 1, 1);
        for number in 0..2 * ERA_DAYS {
            assert_eq!(day(number * DAY), expected);
            expected = match expected {
                (year, 12, 31) => (year + 1, 1, 1),
                (year, month, day) if day == length(year, month) => (year, month + 1, 1),
                (year, month, day) => (year, month, day + 1),
            };
        }
    }

    #[test]
    fn every_day_of_eight_centuries_is_found_again() {
        for number in -ERA_DAYS..ERA_DAYS {
            let micros = number * DAY + 86_399_123_456;
            assert_eq!(Civil::at(micros).micros(), micros);
        }
    }

    #[test]
    fn the_last_microsecond_before_1970_belongs_to_1969() {
        let civil =
            Civil { year: 1969, month: 12, day: 31, hour: 23, minute: 59, second: 59, micro: 999_999 };
        assert_eq!(Civil::at(-1), civil);
    }
}
