//! What a probe's entry tells, in words: as Python asks for it, and as a recording's windows keep it.

use std::fmt;
use std::str::FromStr;

use crate::backend::Detail;
use crate::{ProbeError, Result};

const ARGUMENTS: u8 = 6; // those that the System V ABI passes in registers

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Site => f.write_str("site"),
            Self::Word(word) => write!(f, "word:{word}"),
            Self::WordAndText { word, text } => write!(f, "word:{word},text:{text}"),
            Self::Mark => f.write_str("mark"),
        }
    }
}

impl FromStr for Detail {
    type Err = ProbeError;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "site" => return Ok(Self::Site),
            "mark" => return Ok(Self::Mark),
            _ => {}
        }
        let argument = |words: &str| words.parse().ok().filter(|number: &u8| *number < ARGUMENTS);
        let word = text.strip_prefix("word:").and_then(|rest| match rest.split_once(",text:") {
            None => argument(rest).map(Self::Word),
            Some((word, text)) => Some(Self::WordAndText { word: argument(word)?, text: argument(text)? }),
        });
        word.ok_or_else(|| {
            ProbeError::new(
                format!("a probe cannot tell {text:?}"),
                "ask for site, word:N, word:N,text:N or mark, N an argument from 0 to 5",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detail_is_read_back_from_its_words() {
        for detail in [Detail::Site, Detail::Mark, Detail::Word(3), Detail::WordAndText { word: 0, text: 5 }]
        {
            assert_eq!(detail.to_string().parse(), Ok(detail));
        }
        for wrong in ["", "word:", "word:6", "word:0,text:9", "word:x", "sight"] {
            assert!(wrong.parse::<Detail>().unwrap_err().what.contains(wrong), "{wrong}");
        }
    }
}
