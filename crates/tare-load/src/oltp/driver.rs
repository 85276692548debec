//! The engine: an intended schedule, connections that keep it as well as the server lets them, and what happened.
//!
//! A thread for each connection. A worker that is free takes the next arrival of the schedule, sleeps until it is due
//! and sends it. Nothing is queued: when the server stalls, every worker is busy, later arrivals start late, and since
//! response time counts from the intended start, the stall shows in full. Memory does not grow with a run's length.

mod actions;
mod attempt;
mod backlog;
mod breaks;
mod cell;
mod clock;
mod command;
mod conduct;
mod control;
mod databases;
mod distribution;
mod finished;
mod freezes;
mod gate;
mod mix;
mod open;
mod plan;
mod record;
mod run;
mod sample;
mod schedule;
mod seconds;
mod stage;
mod streams;
mod stretch;
mod tally;
mod teller;
mod think;
mod trace;
mod troubles;
mod validity;
mod worker;

#[cfg(test)]
mod planned;
#[cfg(test)]
mod tests;

pub use actions::Actions;
pub use command::serve;
pub use databases::Databases;
pub use record::{End, RECORD_BYTES, Record};
