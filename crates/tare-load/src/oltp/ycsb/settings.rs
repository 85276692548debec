//! A user's options for YCSB, and what the core workloads mean by default.

use std::fmt;
use std::str::FromStr;

use crate::oltp::{Mistake, Options};

/// The workloads that YCSB comes with (Cooper et al., SoCC 2010, §4.1 and the project's files for F).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Core {
    /// Update heavy.
    A,
    /// Read mostly.
    B,
    /// Read only.
    C,
    /// Read latest.
    D,
    /// Short ranges.
    E,
    /// Read, modify, write.
    F,
}

/// Which keys are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Some far more often than others, scattered over the table.
    Zipfian,
    /// Each as often as the next.
    Uniform,
    /// The newest far more often than the others.
    Latest,
}

/// How many of a record's fields a transaction touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fields {
    /// One, drawn each time.
    One,
    /// The whole record.
    All,
}

/// All of them, each as given or as the workload has it.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// None: the mix of OLTP-Bench, of all six kinds.
    pub core: Option<Core>,
    /// Of keys asked for.
    pub distribution: Distribution,
    /// Of Zipf's distribution.
    pub theta: f64,
    /// Most records that a scan asks for.
    pub scan_length: u64,
    /// What a read, a scan and the first half of a read-modify-write ask for.
    pub read: Fields,
    /// What an update and the second half of a read-modify-write change.
    pub write: Fields,
}

/// What no option of these names can be.
#[derive(Debug)]
pub struct Unknown;

impl Settings {
    /// Takes them out of what was given.
    pub fn take(options: &mut Options) -> Result<Self, Mistake> {
        let core = options.take("core", "one of a, b, c, d, e, f")?;
        let usual = if core == Some(Core::D) { Distribution::Latest } else { Distribution::Zipfian };
        // OLTP-Bench writes whole records, YCSB one field.
        let written = if core.is_some() { Fields::One } else { Fields::All };
        let settings = Self {
            core,
            distribution: options.take("distribution", "one of zipfian, uniform, latest")?.unwrap_or(usual),
            theta: options.take("theta", THETA)?.unwrap_or(0.99),
            scan_length: options.take("scan_length", SCAN_LENGTH)?.unwrap_or(100),
            read: options.take("read_fields", "one or all")?.unwrap_or(Fields::All),
            write: options.take("write_fields", "one or all")?.unwrap_or(written),
        };
        within(settings.theta > 0.0 && settings.theta < 1.0, "theta", settings.theta, THETA)?;
        within(
            (1..=100_000).contains(&settings.scan_length),
            "scan_length",
            settings.scan_length,
            SCAN_LENGTH,
        )?;
        Ok(settings)
    }
}

const THETA: &str = "a number between 0 and 1, without these";
const SCAN_LENGTH: &str = "a number of records from 1 to 100000";

fn within(it_is: bool, name: &str, given: impl fmt::Display, wanted: &str) -> Result<(), Mistake> {
    if it_is { Ok(()) } else { Err(Mistake(format!("{name} = {given}: give {wanted}"))) }
}

impl FromStr for Core {
    type Err = Unknown;

    fn from_str(text: &str) -> Result<Self, Unknown> {
        match text.to_ascii_lowercase().as_str() {
            "a" => Ok(Self::A),
            "b" => Ok(Self::B),
            "c" => Ok(Self::C),
            "d" => Ok(Self::D),
            "e" => Ok(Self::E),
            "f" => Ok(Self::F),
            _ => Err(Unknown),
        }
    }
}

impl FromStr for Distribution {
    type Err = Unknown;

    fn from_str(text: &str) -> Result<Self, Unknown> {
        match text {
            "zipfian" => Ok(Self::Zipfian),
            "uniform" => Ok(Self::Uniform),
            "latest" => Ok(Self::Latest),
            _ => Err(Unknown),
        }
    }
}

impl FromStr for Fields {
    type Err = Unknown;

    fn from_str(text: &str) -> Result<Self, Unknown> {
        match text {
            "one" => Ok(Self::One),
            "all" => Ok(Self::All),
            _ => Err(Unknown),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Core, Distribution, Fields, Settings};
    use crate::oltp::{Mistake, Options};

    fn settings(given: &[(&str, &str)]) -> Result<Settings, Mistake> {
        let mut options =
            Options::new(given.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect());
        Settings::take(&mut options)
    }

    #[test]
    fn each_core_workload_asks_for_keys_in_its_own_way() {
        for core in ["a", "b", "c", "e", "f"] {
            assert_eq!(settings(&[("core", core)]).unwrap().distribution, Distribution::Zipfian);
        }
        assert_eq!(settings(&[("core", "D")]).unwrap().distribution, Distribution::Latest);
        let uniform = settings(&[("core", "d"), ("distribution", "uniform")]).unwrap();
        assert_eq!((uniform.core, uniform.distribution), (Some(Core::D), Distribution::Uniform));
    }

    #[test]
    fn core_workloads_write_one_field_and_the_usual_mix_writes_all() {
        assert_eq!(settings(&[("core", "a")]).unwrap().write, Fields::One);
        assert_eq!(settings(&[]).unwrap().write, Fields::All);
        assert_eq!(settings(&[("write_fields", "one")]).unwrap().write, Fields::One);
    }

    #[test]
    fn what_cannot_be_is_refused_with_what_can() {
        for (name, text) in
            [("core", "g"), ("theta", "1"), ("theta", "NaN"), ("scan_length", "0"), ("distribution", "hot")]
        {
            let Mistake(said) = settings(&[(name, text)]).unwrap_err();
            assert!(said.starts_with(&format!("{name} = {text}: give ")), "{said}");
        }
    }
}
