//! A distribution while it is recorded, and two that become one.
//!
//! Moments are exact: Welford's recurrence for one more value, Chan's formula for another distribution. Minimum and
//! maximum are exact too. A bucket of the histogram is at most 1/1024 of its values wide, below 2 µs exactly 1 ns; so a
//! quantile read from it is at most 0.1% too high, from nanoseconds to centuries. It grows with the largest value:
//! 8 KB for each doubling, 200 KB for ten seconds.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use crate::oltp::events::Distribution;

const SIGNIFICANT_DIGITS: u8 = 3;
const MS: f64 = 1e6; // ns

/// Takes one value after the other.
pub(super) struct Recorder {
    moments: Distribution,
    histogram: Histogram<u64>,
}

impl Recorder {
    /// Of nothing yet; p of the L_p norm.
    pub(super) fn new(norm: f64) -> Self {
        let histogram = Histogram::new(SIGNIFICANT_DIGITS).expect("three digits are within its range");
        Self { moments: Distribution { norm, ..Distribution::default() }, histogram }
    }

    /// One more, in ns.
    pub(super) fn record(&mut self, ns: u64) {
        let moments = &mut self.moments;
        moments.min = if moments.count == 0 { ns } else { moments.min.min(ns) };
        moments.max = moments.max.max(ns);
        moments.count += 1;
        let apart = ns as f64 - moments.mean;
        moments.mean += apart / moments.count as f64;
        moments.m2 += apart * (ns as f64 - moments.mean);
        moments.power_sum += (ns as f64 / MS).powf(moments.norm);
        self.histogram.record(ns).expect("it grows with its largest value");
    }

    /// The values so far.
    pub(super) fn distribution(&self) -> Distribution {
        let buckets = self.histogram.iter_recorded();
        let histogram = buckets.map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value())).collect();
        Distribution { histogram, ..self.moments.clone() }
    }
}

impl Distribution {
    /// Of the values of both, which have the same norm.
    pub fn merged(&self, other: &Self) -> Self {
        if self.count == 0 || other.count == 0 {
            return if self.count == 0 { other.clone() } else { self.clone() };
        }
        debug_assert!(self.norm == other.norm);
        let count = self.count + other.count;
        let (ours, theirs) = (self.count as f64, other.count as f64);
        let apart = other.mean - self.mean;
        let mut buckets: BTreeMap<u64, u64> = self.histogram.iter().copied().collect();
        other.histogram.iter().for_each(|(highest, values)| *buckets.entry(*highest).or_default() += values);
        Self {
            count,
            mean: self.mean + apart * theirs / count as f64,
            m2: self.m2 + other.m2 + apart * apart * ours * theirs / count as f64,
            norm: self.norm,
            power_sum: self.power_sum + other.power_sum,
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            histogram: buckets.into_iter().collect(),
        }
    }

    /// The smallest value that at least this share (0..=1) of all do not exceed, to three digits. None: there are none.
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let rank = ((share * self.count as f64).ceil() as u64).max(1);
        let mut so_far = 0;
        let reaches = |bucket: &&(u64, u64)| {
            so_far += bucket.1;
            so_far >= rank
        };
        let (highest, _) = self.histogram.iter().find(reaches).or(self.histogram.last())?;
        Some((*highest).clamp(self.min, self.max))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn recorded(values: &[u64]) -> Distribution {
        let mut recorder = Recorder::new(2.0);
        values.iter().for_each(|value| recorder.record(*value));
        recorder.distribution()
    }

    fn through_json(distribution: &Distribution) -> Distribution {
        serde_json::from_str(&serde_json::to_string(distribution).unwrap()).unwrap()
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
    }

    fn alike(a: &Distribution, b: &Distribution) -> bool {
        let exact = |d: &Distribution| (d.count, d.min, d.max, d.histogram.clone());
        exact(a) == exact(b)
            && close(a.mean, b.mean)
            && (a.m2 - b.m2).abs() <= 1e-9 * (a.m2.max(b.m2) + a.mean * a.mean * a.count as f64)
            && close(a.power_sum, b.power_sum)
    }

    /// From 1 ns to 10 h, as many of each magnitude.
    fn values() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec((0_u32..45, any::<u64>()).prop_map(|(bits, of)| of % (1 << bits).max(1)), 0..60)
    }

    proptest! {
        #[test]
        fn merging_is_the_same_in_any_order_and_after_a_journey_as_text(a in values(), b in values(), c in values()) {
            let [x, y, z] = [&a, &b, &c].map(|values| recorded(values));
            let [p, q, r] = [&x, &y, &z].map(through_json);
            let left = x.merged(&y).merged(&z);
            prop_assert!(alike(&left, &p.merged(&q.merged(&r))));
            prop_assert!(alike(&left, &z.merged(&x).merged(&y)));
            if !(a.is_empty() && b.is_empty() && c.is_empty()) {
                prop_assert!(alike(&left, &recorded(&[a, b, c].concat())));
            }
        }

        #[test]
        fn moments_are_those_of_the_values(values in values().prop_filter("none", |values| !values.is_empty())) {
            let found = recorded(&values);
            let n = values.len() as f64;
            let mean = values.iter().map(|v| *v as f64).sum::<f64>() / n;
            let m2 = values.iter().map(|v| (*v as f64 - mean).powi(2)).sum::<f64>();
            prop_assert!(close(found.mean, mean));
            prop_assert!((found.m2 - m2).abs() <= 1e-9 * (m2 + mean * mean * n));
            prop_assert!(close(found.power_sum, values.iter().map(|v| (*v as f64 / 1e6).powi(2)).sum()));
            prop_assert_eq!((found.min, found.max), (*values.iter().min().unwrap(), *values.iter().max().unwrap()));
        }

        #[test]
        fn a_quantile_is_at_most_a_thousandth_above_the_value(
            values in values().prop_filter("none", |values| !values.is_empty()), share in 0.0_f64..=1.0
        ) {
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let rank = ((share * sorted.len() as f64).ceil() as usize).max(1);
            let (exact, read) = (sorted[rank - 1], recorded(&values).quantile(share).unwrap());
            prop_assert!(read >= exact && read as f64 <= exact as f64 * 1.001, "{} {}", read, exact);
        }
    }

    #[test]
    fn of_nothing_there_is_no_quantile() {
        assert_eq!(recorded(&[]).quantile(0.5), None);
    }
}
