//! Zipf's law by rejection-inversion (Hörmann and Derflinger, 1996): any size, any exponent, no table.

use crate::oltp::Random;

/// Rank k, from 0, is drawn in proportion to 1 / (k + 1)^exponent.
#[derive(Clone, Copy, Debug)]
pub struct Skewed {
    size: f64,
    exponent: f64,
    first: f64,
    last: f64,
    sure: f64,
}

impl Skewed {
    /// Over ranks below `size` (at least 1), `exponent` above 0.
    pub fn new(size: u64, exponent: f64) -> Self {
        let mut law = Self { size: size as f64, exponent, first: 0.0, last: 0.0, sure: 0.0 };
        law.first = law.area(1.5) - 1.0;
        law.last = law.area(law.size + 0.5);
        law.sure = 2.0 - law.area_inverse(law.area(2.5) - law.height(2.0));
        law
    }

    /// The next one; one and a half tries on average at the most.
    pub fn rank(&self, random: &mut Random) -> u64 {
        loop {
            let drawn = self.last + random.unit() * (self.first - self.last);
            let place = self.area_inverse(drawn);
            let rank = (place + 0.5).floor().clamp(1.0, self.size);
            if rank - place <= self.sure || drawn >= self.area(rank + 0.5) - self.height(rank) {
                return rank as u64 - 1;
            }
        }
    }

    /// Under the hull.
    fn height(&self, x: f64) -> f64 {
        (-self.exponent * x.ln()).exp()
    }

    /// The hull's integral, from 1 to x: (x^(1 - exponent) - 1) / (1 - exponent), and its limit at exponent 1.
    fn area(&self, x: f64) -> f64 {
        let log = x.ln();
        let scaled = (1.0 - self.exponent) * log;
        if scaled.abs() < 1e-8 { log * (1.0 + scaled / 2.0) } else { log * scaled.exp_m1() / scaled }
    }

    fn area_inverse(&self, area: f64) -> f64 {
        let scaled = ((1.0 - self.exponent) * area).max(-1.0);
        if scaled.abs() < 1e-8 {
            (area * (1.0 - scaled / 2.0)).exp()
        } else {
            (area * scaled.ln_1p() / scaled).exp()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 200_000;

    fn shares(size: u64, exponent: f64) -> Vec<f64> {
        let law = Skewed::new(size, exponent);
        let mut random = Random::at(7, &[size]);
        let mut counts = vec![0_usize; size as usize];
        for _ in 0..DRAWS {
            counts[law.rank(&mut random) as usize] += 1;
        }
        counts.into_iter().map(|count| count as f64 / DRAWS as f64).collect()
    }

    #[test]
    fn ranks_come_as_often_as_the_law_says() {
        for (size, exponent) in [(1, 0.99), (2, 1.8), (10, 1.0), (500, 0.99), (500, 1.8), (200, 1.95)] {
            let total: f64 = (1..=size).map(|rank| (rank as f64).powf(-exponent)).sum();
            for (rank, share) in shares(size, exponent).into_iter().enumerate() {
                let wanted = ((rank + 1) as f64).powf(-exponent) / total;
                let deviation = (wanted * (1.0 - wanted) / DRAWS as f64).sqrt();
                assert!(
                    (share - wanted).abs() <= 5.0 * deviation + 1e-9,
                    "{rank} of {size}^-{exponent}: {share}"
                );
            }
        }
    }

    #[test]
    fn ten_thousand_million_ranks_need_no_table() {
        let law = Skewed::new(10_000_000_000, 0.99);
        let mut random = Random::at(7, &[]);
        let high = (0..10_000).filter(|_| law.rank(&mut random) > 1_000_000_000).count();
        assert!((500..1_500).contains(&high), "{high}");
    }
}
