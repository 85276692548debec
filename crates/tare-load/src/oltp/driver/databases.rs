//! The databases that URLs name, and what may be done to them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::actions::Actions;
use crate::oltp::database::{self, Problem, Tell};
use crate::oltp::request::Request;
use crate::oltp::told::{Loaded, Told};
use crate::oltp::{Connection, Failure, Isolation, Options, Trouble, Workload, connect, find};

/// Of PostgreSQL, MariaDB, MySQL and SQLite.
pub struct Databases;

/// Loading and checking need no more.
const PLAIN: Isolation = Isolation::ReadCommitted;

impl Actions for Databases {
    fn open(&self, request: &Request, isolation: Isolation) -> Result<Box<dyn Connection>, Failure> {
        let timeout = Duration::try_from_secs_f64(request.connect_timeout_s)
            .map_err(|error| Failure::new(Trouble::Error, format!("the time to connect: {error}")))?;
        connect(&request.url, isolation, timeout)
    }

    fn workload(
        &self,
        request: &Request,
        on: &mut dyn Connection,
        tell: &Tell<'_>,
    ) -> Result<Arc<dyn Workload>, Problem> {
        let loaded = look(on, tell)?;
        database::fit(request, loaded.as_ref())?;
        Ok(Arc::from(of(request, loaded.as_ref())?))
    }

    fn load(&self, request: &Request, tell: &Tell<'_>) -> Result<(), Problem> {
        let workload = of(request, None)?;
        self.look(request, tell)?;
        database::load(request, &*workload, &|| self.open(request, PLAIN), tell)
    }

    fn check(&self, request: &Request, tell: &Tell<'_>) -> Result<(), Problem> {
        let loaded = self.look(request, tell)?;
        database::fit(request, loaded.as_ref())?;
        let workload = of(request, loaded.as_ref())?;
        database::check(request, &*workload, &|| self.open(request, PLAIN), tell)
    }

    fn drop_tables(&self, request: &Request, tell: &Tell<'_>) -> Result<(), Problem> {
        let loaded = self.look(request, tell)?;
        let workload = of(request, loaded.as_ref().filter(|loaded| loaded.workload == request.workload))?;
        database::drop(request, &*workload, &|| self.open(request, PLAIN), tell)
    }
}

impl Databases {
    fn look(&self, request: &Request, tell: &Tell<'_>) -> Result<Option<Loaded>, Problem> {
        let mut on = self.open(request, PLAIN).map_err(|failure| Problem::of("connecting", &failure))?;
        look(&mut *on, tell)
    }
}

fn look(on: &mut dyn Connection, tell: &Tell<'_>) -> Result<Option<Loaded>, Problem> {
    let loaded = database::found(on).map_err(|failure| Problem::of("looking at the database", &failure))?;
    tell(Told::Found { loaded: loaded.clone() });
    Ok(loaded)
}

/// The request's workload, over what is loaded: its scale, its seed, and its options where the request has no others.
fn of(request: &Request, loaded: Option<&Loaded>) -> Result<Box<dyn Workload>, Problem> {
    let mut options = match loaded {
        Some(loaded) => {
            database::options(loaded).map_err(|failure| Problem::of("looking at what is loaded", &failure))?
        }
        None => BTreeMap::new(),
    };
    options.extend(request.options.clone());
    let scale = loaded.map(|loaded| loaded.scale).or(request.scale).unwrap_or(1.0);
    let seed = loaded.map_or(request.seed, |loaded| loaded.seed);
    Ok(find(&request.workload, scale, seed, Options::new(options))?)
}
