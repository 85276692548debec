//! Dropping what was loaded.

use super::{Connect, Emit, Problem, marker, tables};
use crate::oltp::events::Event;
use crate::oltp::request::Request;
use crate::oltp::{Failure, Workload};

/// Tables and marker, also of a load that was interrupted. Tables that are not ours are left alone.
pub fn drop(
    request: &Request,
    workload: &dyn Workload,
    connect: &Connect<'_>,
    emit: &Emit<'_>,
) -> Result<(), Problem> {
    let failed = |failure: Failure| Problem::of("dropping the tables", &failure);
    let mut on = connect().map_err(|failure| Problem::of("connecting", &failure))?;
    let on = on.as_mut();
    match marker::read(on).map_err(failed)? {
        Some(marker) if marker.loaded.workload != request.workload => {
            let what = format!("this database holds {}, not {}", marker.loaded.workload, request.workload);
            return Err(Problem::usage(what, "name what it holds"));
        }
        Some(marker) => tables::drop(on, &marker.tables()).map_err(failed)?,
        None => {
            let names: Vec<_> = workload.tables().iter().map(|table| table.name).collect();
            let foreign = tables::there(on, &names).map_err(failed)?;
            if !foreign.is_empty() {
                let what =
                    format!("tables of the workload's names were not loaded by Tare: {}", foreign.join(", "));
                return Err(Problem::usage(what, "drop them yourself, if they are not needed"));
            }
        }
    }
    marker::remove(on).map_err(failed)?;
    emit(Event::TablesDropped);
    Ok(())
}
