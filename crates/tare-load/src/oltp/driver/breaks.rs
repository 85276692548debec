//! Connections that broke together: a server that crashed or was restarted cuts off all that are open.
//!
//! A connection may be seen to be broken long after it broke, when it is next used. A loss therefore belongs to the
//! break before it if the connection was open when that break began.

use crate::oltp::verdict::Invalid;

/// More breaks are not kept: a server that cuts off every connection at once has been understood by then.
const MOST: usize = 100;

/// Of one stretch. Instants are ns of CLOCK_MONOTONIC.
#[derive(Default)]
pub(super) struct Breaks {
    found: Vec<Break>,
}

#[derive(Clone, Copy)]
struct Break {
    at: i64,
    broken: u64,
    back: Option<i64>,
}

impl Break {
    /// One connection that an administrator ends is none of the server's doing.
    fn is_of_most(self, connections: u64) -> bool {
        2 * self.broken > connections
    }
}

impl Breaks {
    /// A connection that was opened at an instant is seen to be broken, one of so many.
    pub(super) fn lost(&mut self, opened: i64, at: i64, connections: u64) {
        match self.found.last_mut() {
            Some(last) if opened < last.at => {
                last.broken += 1;
                last.at = last.at.min(at);
            }
            _ => {
                self.found.pop_if(|last| !last.is_of_most(connections));
                if self.found.len() < MOST {
                    self.found.push(Break { at, broken: 1, back: None });
                }
            }
        }
    }

    /// A connection was opened again.
    pub(super) fn back(&mut self, at: i64) {
        if let Some(last) = self.found.last_mut() {
            last.back.get_or_insert(at);
        }
    }

    /// Those of more than half of the connections, by their time since `zero`.
    pub(super) fn of_most(&self, connections: u64, zero: i64) -> Vec<Invalid> {
        let found = self.found.iter().filter(|one| one.is_of_most(connections));
        found
            .map(|one| Invalid::ConnectionsBroke {
                at_ns: one.at - zero,
                broken: one.broken,
                connections,
                back_ns: one.back.map(|back| back - zero),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broke(at_ns: i64, broken: u64, back_ns: Option<i64>) -> Invalid {
        Invalid::ConnectionsBroke { at_ns, broken, connections: 4, back_ns }
    }

    #[test]
    fn connections_that_were_open_at_a_loss_belong_to_it_whenever_they_are_used_next() {
        let mut breaks = Breaks::default();
        for at in [2000, 2100, 9000] {
            breaks.lost(5, at, 4);
        }
        breaks.back(2500);
        breaks.back(9500);
        assert_eq!(breaks.of_most(4, 1000), [broke(1000, 3, Some(1500))]);
    }

    #[test]
    fn a_server_that_crashes_twice_has_two_breaks() {
        let mut breaks = Breaks::default();
        (0..4).for_each(|_| breaks.lost(5, 2000, 4));
        breaks.back(3000);
        (0..4).for_each(|_| breaks.lost(3000, 6000, 4));
        assert_eq!(breaks.of_most(4, 0), [broke(2000, 4, Some(3000)), broke(6000, 4, None)]);
    }

    #[test]
    fn half_of_the_connections_and_fewer_are_no_break() {
        let mut breaks = Breaks::default();
        breaks.lost(5, 2000, 4);
        breaks.lost(5, 2001, 4);
        breaks.back(2010);
        assert!(breaks.of_most(4, 0).is_empty());
        breaks.lost(2010, 3000, 4);
        assert!(breaks.of_most(4, 0).is_empty());
    }

    #[test]
    fn a_single_connection_is_all_of_them() {
        let mut breaks = Breaks::default();
        breaks.lost(5, 2000, 1);
        assert_eq!(breaks.of_most(1, 0).len(), 1);
    }
}
