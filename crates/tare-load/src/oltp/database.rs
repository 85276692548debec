//! A workload's tables in a database: made and filled, held against their conditions, dropped.

mod check;
mod drop;
mod fill;
mod fit;
mod load;
mod marker;
pub(crate) mod own;
mod parts;
mod problem;
mod progress;
mod tables;

pub use check::check;
pub use drop::drop;
pub use fit::fit;
pub use load::load;
pub use marker::{found, options};
pub use problem::Problem;

use crate::oltp::events::Event;
use crate::oltp::{Connection, Failure};

/// Opens one more connection to the database.
pub type Connect<'a> = dyn Fn() -> Result<Box<dyn Connection>, Failure> + Sync + 'a;

/// Passes a line on; several threads do.
pub type Emit<'a> = dyn Fn(Event) + Sync + 'a;
