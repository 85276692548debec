//! The databases that URLs name, and what may be done to them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::actions::Actions;
use crate::oltp::database::{self, Emit, Problem};
use crate::oltp::events::{Event, LoadMarker};
use crate::oltp::request::Request;
use crate::oltp::{Connection, Failure, Isolation, Options, Trouble, Workload, connect_over, find};

/// Of PostgreSQL, MariaDB, MySQL and SQLite.
pub struct Databases;

/// Loading and checking need no more.
const PLAIN: Isolation = Isolation::ReadCommitted;

impl Actions for Databases {
    fn open(&self, request: &Request, isolation: Isolation) -> Result<Box<dyn Connection>, Failure> {
        let timeout = Duration::try_from_secs_f64(request.connect_timeout_s)
            .map_err(|error| Failure::new(Trouble::Error, format!("the time to connect: {error}")))?;
        connect_over(&request.url, isolation, request.protocol.unwrap_or_default(), timeout)
    }

    fn workload(
        &self,
        request: &Request,
        on: &mut dyn Connection,
        emit: &Emit<'_>,
    ) -> Result<Arc<dyn Workload>, Problem> {
        let loaded = look(on, emit)?;
        database::fit(request, loaded.as_ref())?;
        Ok(Arc::from(of(request, loaded.as_ref())?))
    }

    fn load(&self, request: &Request, emit: &Emit<'_>) -> Result<(), Problem> {
        let workload = of(request, None)?;
        self.look(request, emit)?;
        database::load(request, &*workload, &|| self.open(request, PLAIN), emit)
    }

    fn check(&self, request: &Request, emit: &Emit<'_>) -> Result<(), Problem> {
        let loaded = self.look(request, emit)?;
        database::fit(request, loaded.as_ref())?;
        let workload = of(request, loaded.as_ref())?;
        database::check(request, &*workload, &|| self.open(request, PLAIN), emit)
    }

    fn drop_tables(&self, request: &Request, emit: &Emit<'_>) -> Result<(), Problem> {
        let loaded = self.look(request, emit)?;
        let workload = of(request, loaded.as_ref().filter(|loaded| loaded.workload == request.workload))?;
        database::drop(request, &*workload, &|| self.open(request, PLAIN), emit)
    }
}

impl Databases {
    fn look(&self, request: &Request, emit: &Emit<'_>) -> Result<Option<LoadMarker>, Problem> {
        let mut on = self.open(request, PLAIN).map_err(|failure| Problem::of("connecting", &failure))?;
        look(&mut *on, emit)
    }
}

fn look(on: &mut dyn Connection, emit: &Emit<'_>) -> Result<Option<LoadMarker>, Problem> {
    let loaded = database::found(on).map_err(|failure| Problem::of("looking at the database", &failure))?;
    emit(Event::MarkerRead { loaded: loaded.clone() });
    Ok(loaded)
}

/// The request's workload, over what is loaded: its scale, its seed, and its options where the request has no others.
fn of(request: &Request, loaded: Option<&LoadMarker>) -> Result<Box<dyn Workload>, Problem> {
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
