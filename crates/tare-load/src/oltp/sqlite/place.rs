//! The file of a URL: `sqlite:///relative.db` or `sqlite:////absolute.db`.

use std::path::PathBuf;

use crate::oltp::{Failure, percent};

/// As `python/tare/dbms/url.py` has it.
pub fn file(url: &str) -> Result<PathBuf, Failure> {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let path = rest.split('?').next().unwrap_or_default().strip_prefix('/').unwrap_or_default();
    match percent::decoded(path) {
        Some(path) if !path.is_empty() => Ok(path.into()),
        _ => Err(Failure::foreign(
            "the URL names no file; write sqlite:///relative/file or sqlite:////absolute/file (three or four slashes)",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_slashes_are_relative_and_four_absolute() {
        assert_eq!(file("sqlite:///a%20b.db?x=1").unwrap(), PathBuf::from("a b.db"));
        assert_eq!(file("sqlite:////var/a.db").unwrap(), PathBuf::from("/var/a.db"));
    }

    #[test]
    fn a_host_is_no_file() {
        for url in ["sqlite://a.db", "sqlite:///", "sqlite:a.db"] {
            assert!(file(url).unwrap_err().text.contains("names no file"), "{url}");
        }
    }
}
