//! Actions on databases that a call of the driver may request.

use std::sync::Arc;

use crate::oltp::database::{Emit, Problem};
use crate::oltp::request::Request;
use crate::oltp::{Connection, Failure, Isolation, Workload};

/// Everything done to a database, except sending it transactions.
pub trait Actions: Send + Sync {
    /// A connection to the request's database.
    fn open(&self, request: &Request, isolation: Isolation) -> Result<Box<dyn Connection>, Failure>;

    /// The workload that the request asks for, as it is loaded there; emits `MarkerRead`. Refuses what is not loaded, not
    /// completely, or not as asked.
    fn workload(
        &self,
        request: &Request,
        on: &mut dyn Connection,
        emit: &Emit<'_>,
    ) -> Result<Arc<dyn Workload>, Problem>;

    /// Makes and fills the tables; emits `MarkerRead`, `LoadProgress` and `LoadDone`.
    fn load(&self, request: &Request, emit: &Emit<'_>) -> Result<(), Problem>;

    /// Holds the conditions against the data; emits `MarkerRead`, a `CheckResult` for each and `ChecksDone`.
    fn check(&self, request: &Request, emit: &Emit<'_>) -> Result<(), Problem>;

    /// Drops the tables; emits `MarkerRead` and `TablesDropped`.
    fn drop_tables(&self, request: &Request, emit: &Emit<'_>) -> Result<(), Problem>;
}
