//! User and system time: a sampled split scaled to the exact run time.
//!
//! The tick counts which mode it interrupts; only the scheduler's clock knows how long a task ran.
//! As the kernel's own `cputime_adjust`, the sampled ratio is applied to the exact sum, and neither
//! part ever runs backwards for a later reading of the same task.

use std::collections::HashMap;

/// Scales sampled `user` and `system` (any common unit) so that they add up to `run`.
///
/// Without any sample the whole goes to user mode, as in the kernel, or to system mode for kernel threads.
pub fn scale(user: u64, system: u64, run: u64, kernel: bool) -> (u64, u64) {
    let sampled = u128::from(user) + u128::from(system);
    if sampled == 0 {
        return if kernel { (0, run) } else { (run, 0) };
    }
    // system <= sampled, so the quotient fits in run's own type.
    let system_ns = (u128::from(run) * u128::from(system) / sampled) as u64;
    (run - system_ns, system_ns)
}

/// Holds a later split of the same task back so that neither part is less than in `last`.
///
/// A split whose sum is less than `last`'s is an older reading and stays as it is.
pub fn onward(last: (u64, u64), (user_ns, system_ns): (u64, u64)) -> (u64, u64) {
    let run = user_ns.saturating_add(system_ns);
    if run < last.0.saturating_add(last.1) {
        return (user_ns, system_ns);
    }
    let system_ns = system_ns.clamp(last.1, run - last.0);
    (run - system_ns, system_ns)
}

/// What was last given out of each task, so that no part runs backwards.
#[derive(Debug, Default)]
pub struct Splits {
    last: HashMap<(i32, u64), (u64, u64)>,
}

impl Splits {
    /// The split of one task's reading; `life` is its id and start time.
    ///
    /// A reading older than the last one seen is scaled but neither held back nor remembered.
    pub fn scale(&mut self, life: (i32, u64), user: u64, system: u64, run: u64, kernel: bool) -> (u64, u64) {
        let last = self.last.entry(life).or_insert((0, 0));
        let now = onward(*last, scale(user, system, run, kernel));
        if run >= last.0.saturating_add(last.1) {
            *last = now;
        }
        now
    }

    /// Forgets every task that `lives` does not hold.
    pub fn keep(&mut self, lives: impl Fn(&(i32, u64)) -> bool) {
        self.last.retain(|life, _| lives(life));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn without_samples_a_program_ran_in_user_mode_and_a_kernel_thread_did_not() {
        assert_eq!(scale(0, 0, 7, false), (7, 0));
        assert_eq!(scale(0, 0, 7, true), (0, 7));
    }

    #[test]
    fn the_sampled_ratio_is_kept() {
        assert_eq!(scale(3, 1, 1000, false), (750, 250));
    }

    proptest! {
        #[test]
        fn the_parts_add_up_to_the_run_time(user: u64, system: u64, run: u64, kernel: bool) {
            let (u, s) = scale(user, system, run, kernel);
            prop_assert_eq!(u128::from(u) + u128::from(s), u128::from(run));
        }

        #[test]
        fn no_part_runs_backwards(steps in proptest::collection::vec((0u64..1 << 40, 0u64..1 << 40, 0u64..1 << 30), 1..30)) {
            let mut splits = Splits::default();
            let (mut user, mut system, mut run, mut before) = (0, 0, 0, (0, 0));
            for (du, ds, dr) in steps {
                (user, system, run) = (user + du, system + ds, run + dr);
                let now = splits.scale((1, 1), user, system, run, false);
                prop_assert!(now.0 >= before.0 && now.1 >= before.1);
                prop_assert_eq!(now.0 + now.1, run);
                before = now;
            }
        }
    }
}
