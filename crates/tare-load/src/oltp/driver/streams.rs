//! The steps below a run's seed: what is drawn for one purpose does not move what is drawn for another.

/// Arrival k of an open loop: its type and parameters.
pub(super) const ARRIVALS: u64 = 1;
/// Worker w's n-th of a closed loop: type, parameters, times to key and think.
pub(super) const CLOSED: u64 = 2;
/// Gaps of a Poisson process.
pub(super) const GAPS: u64 = 3;
/// A worker's pauses between tries and between connections.
pub(super) const PAUSES: u64 = 4;
/// Above all of them: of the measured part, so that it does not depend on the warm-up's length, and of the warm-up.
pub(super) const MEASURED: &[u64] = &[];
/// See `MEASURED`.
pub(super) const WARM_UP: &[u64] = &[5];
