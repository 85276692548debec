//! Actions on databases that a call of the driver may request.

use std::sync::Arc;

use crate::oltp::database::{Problem, Tell};
use crate::oltp::request::Request;
use crate::oltp::{Connection, Failure, Isolation, Workload};

/// Everything done to a database, except sending it transactions.
pub trait Actions: Send + Sync {
    /// A connection to the request's database.
    fn open(&self, request: &Request, isolation: Isolation) -> Result<Box<dyn Connection>, Failure>;

    /// The workload that the request asks for, as it is loaded there; tells `Found`. Refuses what is not loaded, not
    /// completely, or not as asked.
    fn workload(
        &self,
        request: &Request,
        on: &mut dyn Connection,
        tell: &Tell<'_>,
    ) -> Result<Arc<dyn Workload>, Problem>;

    /// Makes and fills the tables; tells `Found`, `Loading` and `LoadDone`.
    fn load(&self, request: &Request, tell: &Tell<'_>) -> Result<(), Problem>;

    /// Holds the conditions against the data; tells `Found`, `Checked` for each and `CheckDone`.
    fn check(&self, request: &Request, tell: &Tell<'_>) -> Result<(), Problem>;

    /// Drops the tables; tells `Found` and `Dropped`.
    fn drop_tables(&self, request: &Request, tell: &Tell<'_>) -> Result<(), Problem>;
}
