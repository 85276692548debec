//! What a probe's entry tells, in words: as Python asks for it, and as a recording's windows keep it.

use std::fmt;
use std::str::FromStr;

use crate::backend::Detail;
use crate::{ProbeError, Result};

const ARGUMENTS: u8 = 6; // those that the System V ABI passes in registers
const STATES: u8 = 16; // that a detail has room for

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Site => f.write_str("site"),
            Self::Word(word) => write!(f, "word:{word}"),
            Self::WordAndText { word, text } => write!(f, "word:{word},text:{text}"),
            Self::State { word, text, until } => write!(f, "word:{word},text:{text},until:{until}"),
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
            Some((word, rest)) => match rest.split_once(",until:") {
                None => Some(Self::WordAndText { word: argument(word)?, text: argument(rest)? }),
                Some((text, until)) => {
                    let until = until.parse().ok().filter(|state: &u8| *state < STATES)?;
                    Some(Self::State { word: argument(word)?, text: argument(text)?, until })
                }
            },
        });
        word.ok_or_else(|| {
            ProbeError::new(
                format!("a probe cannot tell {text:?}"),
                "ask for site, word:N, word:N,text:N, word:N,text:N,until:S or mark, N an argument from 0 to 5, S a state from 0 to 15",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detail_is_read_back_from_its_words() {
        let state = Detail::State { word: 0, text: 1, until: 15 };
        for detail in
            [Detail::Site, Detail::Mark, Detail::Word(3), Detail::WordAndText { word: 0, text: 5 }, state]
        {
            assert_eq!(detail.to_string().parse(), Ok(detail));
        }
        let states = ["word:0,text:1,until:16", "word:0,until:1", "word:0,text:1,until:"];
        for wrong in ["", "word:", "word:6", "word:0,text:9", "word:x", "sight"].into_iter().chain(states) {
            assert!(wrong.parse::<Detail>().unwrap_err().what.contains(wrong), "{wrong}");
        }
    }
}
