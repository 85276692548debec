//! One transaction: tried until it comes to an end, or as often as allowed.

use super::clock;
use super::gate::Gate;
use super::record::{End, Retried};
use crate::oltp::{Connection, Ended, Failure, Random, Transaction, Trouble};

/// The longest pause before the second try; it doubles from try to try, up to `LONGEST_PAUSE`.
const FIRST_PAUSE: i64 = 1_000_000; // ns
const LONGEST_PAUSE: i64 = 64_000_000; // ns

/// How a transaction begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begin {
    /// It may change something.
    pub(super) writes: bool,
    /// It is one statement, which the DBMS commits by itself.
    pub(super) alone: bool,
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Attempted {
    pub(super) end: End,
    pub(super) retried: Retried,
    pub(super) tries: u8,
    /// The connection can be used again.
    pub(super) alive: bool,
    /// Worth telling.
    pub(super) text: Option<String>,
}

/// On a connection that is at rest, and is again afterwards if it is alive. `tries` is at least 1.
pub(super) fn attempt(
    on: &mut dyn Connection,
    transaction: &dyn Transaction,
    begin: Begin,
    tries: u8,
    gate: &Gate,
    pauses: &mut Random,
) -> Attempted {
    let mut retried = Retried::default();
    for number in 1.. {
        let failure = match once(on, transaction, begin) {
            Ok(end) => return Attempted { end, retried, tries: number, alive: true, text: None },
            Err(failure) => failure,
        };
        let after = leave(on, &failure);
        let again = failure.trouble.passes() && number < tries && after.is_ok() && gate.cut_at() == i64::MAX;
        if !again {
            let alive = after.is_ok();
            let text = after.err().or_else(|| (!failure.trouble.passes()).then_some(failure.text));
            return Attempted { end: failure.trouble.into(), retried, tries: number, alive, text };
        }
        retried.after(failure.trouble);
        pause(number, pauses);
    }
    unreachable!("the last try ends the loop")
}

fn once(on: &mut dyn Connection, transaction: &dyn Transaction, begin: Begin) -> Result<End, Failure> {
    if begin.alone { on.begin_alone(begin.writes) } else { on.begin(begin.writes) }?;
    match transaction.run(on)? {
        Ended::Commit => on.commit().map(|()| End::Committed),
        Ended::RollBack => on.rollback().map(|()| End::RolledBack),
    }
}

/// Back to rest. Err: the connection is gone, and why.
fn leave(on: &mut dyn Connection, failure: &Failure) -> Result<(), String> {
    if failure.trouble == Trouble::Lost {
        return Err(failure.text.clone());
    }
    on.rollback().map_err(|second| format!("{}; then: {}", failure.text, second.text))
}

/// Two that have just met are not sent into each other again.
fn pause(tries: u8, random: &mut Random) {
    let longest = LONGEST_PAUSE.min(FIRST_PAUSE << (tries - 1).min(6));
    clock::sleep_until(clock::now() + random.between(0, longest));
}
