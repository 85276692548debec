//! Whether the server went away in mid-run: connections that it ended, and how long none could be opened.

/// From workers, in any order. Instants are ns of CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outage {
    lost: u64,
    refused: u64,
    first_lost: Option<i64>,
    last_opened: Option<i64>,
}

/// The server was not there for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Absence {
    /// Connections that ended.
    pub(super) lost: u64,
    /// When the first of them did.
    pub(super) from: i64,
    /// When the last one was open again. None: never.
    pub(super) until: Option<i64>,
}

impl Outage {
    /// A connection has ended.
    pub(super) fn lost(&mut self, at: i64) {
        self.lost += 1;
        self.first_lost = Some(self.first_lost.map_or(at, |first| first.min(at)));
    }

    /// The server took no connection, since it was not there or not ready.
    pub(super) fn refused(&mut self) {
        self.refused += 1;
    }

    /// A connection is open again.
    pub(super) fn opened(&mut self, at: i64) {
        self.last_opened = self.last_opened.max(Some(at));
    }

    /// Somebody may end a single session; a server that was away ended all of its `connections`, or refused new ones.
    pub(super) fn absence(&self, connections: usize) -> Option<Absence> {
        let from = self.first_lost?;
        let was_away = self.refused > 0 || self.lost >= connections as u64;
        was_away.then_some(Absence { lost: self.lost, from, until: self.last_opened })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_session_that_somebody_ends_is_no_absence() {
        let mut outage = Outage::default();
        outage.lost(5);
        outage.opened(6);
        assert_eq!(outage.absence(4), None);
    }

    #[test]
    fn a_server_that_ends_all_sessions_or_takes_none_was_away() {
        let mut all = Outage::default();
        (5..9).for_each(|at| all.lost(at));
        (10..14).for_each(|at| all.opened(at));
        assert_eq!(all.absence(4), Some(Absence { lost: 4, from: 5, until: Some(13) }));
        let mut shut = Outage::default();
        shut.lost(7);
        shut.refused();
        assert_eq!(shut.absence(4), Some(Absence { lost: 1, from: 7, until: None }));
    }
}
