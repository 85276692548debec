//! Sets of moments: disjoint spans of time in order, and what they have in common.

/// Disjoint, in order, none empty; `[from, to)` in ns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spans(Vec<(u64, u64)>);

impl Spans {
    /// The union of spans in any order, which may overlap or be empty.
    pub fn union(mut all: Vec<(u64, u64)>) -> Self {
        all.retain(|(from, to)| from < to);
        all.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::with_capacity(all.len());
        for (from, to) in all {
            match joined.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => joined.push((from, to)),
            }
        }
        Self(joined)
    }

    /// What lies within `[from, to)`.
    pub fn within(&self, from: u64, to: u64) -> Self {
        let clipped = self.0.iter().map(|span| (span.0.max(from), span.1.min(to)));
        Self(clipped.filter(|(from, to)| from < to).collect())
    }

    /// What is in both.
    pub fn and(&self, other: &Self) -> Self {
        let (mut common, mut i, mut j) = (Vec::new(), 0, 0);
        while let (Some(one), Some(two)) = (self.0.get(i), other.0.get(j)) {
            let (from, to) = (one.0.max(two.0), one.1.min(two.1));
            if from < to {
                common.push((from, to));
            }
            if one.1 <= two.1 {
                i += 1;
            } else {
                j += 1;
            }
        }
        Self(common)
    }

    /// The sum of their lengths, ns.
    pub fn total(&self) -> u64 {
        self.0.iter().map(|(from, to)| to - from).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn some() -> impl Strategy<Value = Vec<(u64, u64)>> {
        proptest::collection::vec((0u64..100, 0u64..100), 0..20)
    }

    fn holds(spans: &[(u64, u64)], moment: u64) -> bool {
        spans.iter().any(|(from, to)| (*from..*to).contains(&moment))
    }

    proptest! {
        #[test]
        fn a_union_holds_what_any_of_its_spans_holds(all in some()) {
            let union = Spans::union(all.clone());
            for moment in 0..100 {
                prop_assert_eq!(holds(&union.0, moment), holds(&all, moment));
            }
            prop_assert!(union.0.windows(2).all(|pair| pair[0].1 < pair[1].0));
        }

        #[test]
        fn both_is_what_each_holds(one in some(), two in some()) {
            let both = Spans::union(one.clone()).and(&Spans::union(two.clone()));
            for moment in 0..100 {
                prop_assert_eq!(holds(&both.0, moment), holds(&one, moment) && holds(&two, moment));
            }
        }

        #[test]
        fn the_parts_of_a_cut_add_up(all in some(), cut in 0u64..100) {
            let union = Spans::union(all);
            prop_assert_eq!(union.within(0, cut).total() + union.within(cut, 100).total(), union.total());
        }
    }
}
