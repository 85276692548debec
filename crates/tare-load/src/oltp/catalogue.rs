//! Every workload by its name.

use crate::oltp::epinions::Epinions;
use crate::oltp::seats::Seats;
use crate::oltp::tatp::Tatp;
use crate::oltp::tpcc::Tpcc;
use crate::oltp::ycsb::Ycsb;
use crate::oltp::{Mistake, Options, Workload};

/// As the command line knows them.
pub const NAMES: &[&str] = &["tpcc", "tatp", "seats", "epinions", "ycsb"];

/// At this scale, over data of this seed. Refuses unknown names, scales and options.
pub fn find(name: &str, scale: f64, data_seed: u64, options: Options) -> Result<Box<dyn Workload>, Mistake> {
    match name {
        "tpcc" => Ok(Box::new(Tpcc::new(scale, data_seed, options)?)),
        "tatp" => Ok(Box::new(Tatp::new(scale, data_seed, options)?)),
        "seats" => Ok(Box::new(Seats::new(scale, data_seed, options)?)),
        "epinions" => Ok(Box::new(Epinions::new(scale, data_seed, options)?)),
        "ycsb" => Ok(Box::new(Ycsb::new(scale, data_seed, options)?)),
        _ => Err(Mistake(format!("no workload {name}; there are: {}", NAMES.join(", ")))),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_parts_number_is_its_own_within_its_table() {
        for name in NAMES {
            let workload = find(name, 2.0, 1, Options::default()).unwrap();
            let parts = workload.parts();
            let keys: BTreeSet<_> = parts.iter().map(|part| (part.table, part.number)).collect();
            assert_eq!(keys.len(), parts.len(), "{name}: a load is continued by these numbers");
        }
    }
}
