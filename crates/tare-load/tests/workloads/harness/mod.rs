//! What a workload is held to, without a database and in one.

mod checks;
mod heard;
mod load;
mod rows;
mod run;

use tare_load::oltp::{Options, Workload, find};

pub use checks::{Planted, failing};
pub use heard::heard;
pub use rows::filled;
pub use run::{Sending, sent};

/// Of the data.
const SEED: u64 = 1;

/// At a scale.
pub fn workload(name: &str, scale: f64, options: &[(&str, &str)]) -> Box<dyn Workload> {
    let given = options.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    find(name, scale, SEED, Options::new(given)).unwrap()
}
