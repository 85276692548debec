//! Which type an arrival has.

use std::collections::BTreeMap;

use crate::oltp::database::Problem;
use crate::oltp::{Kind, Random};

/// Shares of the types, in numbering order.
#[derive(Clone, Debug)]
pub(super) struct Mix {
    percent: Vec<f64>,
    /// Of each type that has a share: where it ends in 0..1, and its number.
    ends: Vec<(f64, usize)>,
}

impl Mix {
    /// As asked for; the workload's own where nothing is.
    pub(super) fn new(kinds: &[Kind], asked: &BTreeMap<String, f64>) -> Result<Self, Problem> {
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
        if let Some(name) = asked.keys().find(|name| !names.contains(&name.as_str())) {
            return Err(mistake(format!("the mix names {name}"), &names));
        }
        if let Some((name, weight)) =
            asked.iter().find(|(_, weight)| !(weight.is_finite() && **weight >= 0.0))
        {
            return Err(Problem::usage(
                format!("the mix gives {name} a weight of {weight}"),
                "give a number, 0 or more",
            ));
        }
        let weights: Vec<f64> = match asked.is_empty() {
            true => kinds.iter().map(|kind| kind.share).collect(),
            false => names.iter().map(|name| asked.get(*name).copied().unwrap_or(0.0)).collect(),
        };
        let sum: f64 = weights.iter().sum();
        if !(sum > 0.0 && sum.is_finite()) {
            return Err(mistake("the weights of the mix have no positive sum".to_owned(), &names));
        }
        Ok(Self::of(&weights, sum))
    }

    fn of(weights: &[f64], sum: f64) -> Self {
        let mut end = 0.0;
        let ends = weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0).map(|(kind, weight)| {
            end += weight / sum;
            (end, kind)
        });
        Self { ends: ends.collect(), percent: weights.iter().map(|weight| 100.0 * weight / sum).collect() }
    }

    /// In percent.
    pub(super) fn percent(&self) -> &[f64] {
        &self.percent
    }

    /// A type's number.
    pub(super) fn choose(&self, random: &mut Random) -> usize {
        let at = random.unit();
        // the last end may be a rounding error below 1
        let place = self.ends.partition_point(|(end, _)| *end <= at).min(self.ends.len() - 1);
        self.ends[place].1
    }
}

fn mistake(what: String, names: &[&str]) -> Problem {
    Problem::usage(what, format!("weigh one or more of: {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn kind(name: &'static str, share: f64) -> Kind {
        Kind { name, share, writes: true, keying_s: 0.0, think_s: 0.0 }
    }

    const KINDS: &[Kind] = &[kind("buy", 45.0), kind("pay", 43.0), kind("look", 12.0)];

    fn mix(asked: &[(&str, f64)]) -> Result<Mix, Problem> {
        Mix::new(KINDS, &asked.iter().map(|(name, weight)| ((*name).to_owned(), *weight)).collect())
    }

    fn drawn(mix: &Mix) -> [usize; 3] {
        let mut counts = [0; 3];
        (0..100_000).for_each(|k| counts[mix.choose(&mut Random::at(1, &[k]))] += 1);
        counts
    }

    #[test]
    fn the_workloads_own_shares_hold_unless_others_are_asked_for() {
        let counts = drawn(&mix(&[]).unwrap());
        for (count, percent) in counts.iter().zip([45.0, 43.0, 12.0]) {
            assert!((*count as f64 / 1000.0 - percent).abs() < 0.5, "{counts:?}");
        }
    }

    #[test]
    fn one_type_alone_is_all_there_is() {
        let alone = mix(&[("pay", 3.0)]).unwrap();
        assert_eq!(drawn(&alone), [0, 100_000, 0]);
        assert_eq!(alone.percent(), [0.0, 100.0, 0.0]);
    }

    #[test]
    fn an_unknown_type_is_answered_with_those_there_are() {
        let refused = mix(&[("sell", 1.0)]).unwrap_err();
        assert!(refused.usage && refused.what.contains("sell") && refused.next.contains("buy, pay, look"));
    }

    #[test]
    fn weights_that_mean_nothing_are_refused() {
        for weights in [&[("buy", -1.0)][..], &[("buy", f64::NAN)], &[("buy", 0.0), ("pay", 0.0)]] {
            assert!(mix(weights).unwrap_err().usage);
        }
    }
}
