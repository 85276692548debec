//! A server whose every answer is planned, for tests of the engine: real threads and a real clock, but it stalls, fails
//! and goes away when a test says so.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

use super::actions::Actions;
use super::control::Control;
use super::run::run;
use crate::oltp::database::{Emit, Problem};
use crate::oltp::events::{Event, Outcome, Second};
use crate::oltp::request::{Action, Arrivals, Phase, Request, Run};
use crate::oltp::{
    Check, Connection, Dialect, Ended, Failure, Isolation, Kind, Part, Random, Row, Rows, Statement, Table,
    Transaction, Trouble, Value, Workload,
};

/// One statement on its way.
pub(super) struct Call {
    /// Of all the server's.
    pub(super) number: usize,
    /// What the transaction drew.
    pub(super) drew: i64,
}

type Answer = dyn Fn(&Call) -> Result<Ended, Failure> + Send + Sync;
type Door = dyn Fn(usize) -> Result<(), Failure> + Send + Sync;

pub(super) struct Server {
    answer: Box<Answer>,
    door: Box<Door>,
    calls: AtomicUsize,
    pub(super) opened: AtomicUsize,
    pub(super) drew: Mutex<Vec<i64>>,
    pub(super) homes: Mutex<Vec<(usize, Option<u64>)>>,
}

impl Server {
    pub(super) fn answering(
        answer: impl Fn(&Call) -> Result<Ended, Failure> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::behind(|_| Ok(()), answer)
    }

    /// `door` is asked whether the n-th connection may be opened, from 0.
    pub(super) fn behind(
        door: impl Fn(usize) -> Result<(), Failure> + Send + Sync + 'static,
        answer: impl Fn(&Call) -> Result<Ended, Failure> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            answer: Box::new(answer),
            door: Box::new(door),
            calls: AtomicUsize::default(),
            opened: AtomicUsize::default(),
            drew: Mutex::default(),
            homes: Mutex::default(),
        })
    }

    /// Each statement takes so long and succeeds.
    pub(super) fn steady(takes: Duration) -> Arc<Self> {
        Self::answering(move |_| {
            sleep(takes);
            Ok(Ended::Commit)
        })
    }
}

pub(super) fn failure(trouble: Trouble) -> Failure {
    Failure::new(trouble, format!("planned: {trouble:?}"))
}

struct ToServer {
    server: Arc<Server>,
    rolls_back: bool,
}

impl Connection for ToServer {
    fn dialect(&self) -> Dialect {
        Dialect::PostgreSql
    }

    fn described(&mut self) -> Result<(String, String), Failure> {
        Ok(("Planned 1.0".to_owned(), "serializable".to_owned()))
    }

    fn begin(&mut self, _writes: bool) -> Result<(), Failure> {
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Failure> {
        assert!(!self.rolls_back);
        Ok(())
    }

    fn rollback(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn rows(&mut self, _: &'static Statement, _: &[Value]) -> Result<Vec<Row>, Failure> {
        Ok(Vec::new())
    }

    fn run(&mut self, _: &'static Statement, parameters: &[Value]) -> Result<u64, Failure> {
        let [Value::Int(drew)] = parameters else { unreachable!("one parameter") };
        let number = self.server.calls.fetch_add(1, Ordering::SeqCst);
        let ended = (self.server.answer)(&Call { number, drew: *drew })?;
        self.rolls_back = ended == Ended::RollBack;
        Ok(u64::from(!self.rolls_back))
    }

    fn script(&mut self, _: &str) -> Result<(), Failure> {
        Ok(())
    }

    fn ask(&mut self, _: &str) -> Result<(Vec<String>, Vec<Row>), Failure> {
        Ok((Vec::new(), Vec::new()))
    }

    fn load(
        &mut self,
        _: &Table,
        _: &mut dyn FnMut(&mut dyn Rows) -> Result<(), Failure>,
    ) -> Result<u64, Failure> {
        Ok(0)
    }
}

/// Four reads for each write, one statement each.
struct Errands(Arc<Server>);

struct Errand(i64);

static ERRAND: Statement = Statement::new("SELECT $1");

const fn kind(name: &'static str, share: f64, writes: bool) -> Kind {
    Kind { name, share, writes, keying_s: 0.02, think_s: 0.02 }
}

impl Workload for Errands {
    fn name(&self) -> &'static str {
        "errands"
    }

    fn scale(&self) -> f64 {
        1.0
    }

    fn kinds(&self) -> &'static [Kind] {
        const { &[kind("read", 80.0, false), kind("write", 20.0, true)] }
    }

    fn tables(&self) -> &'static [Table] {
        &[]
    }

    fn parts(&self) -> Vec<Part> {
        Vec::new()
    }

    fn fill(&self, _: Part, _: &mut dyn Rows) -> Result<(), Failure> {
        Ok(())
    }

    fn draw(&self, kind: usize, random: &mut Random, home: Option<u64>) -> Box<dyn Transaction> {
        let drew = random.between(0, i64::MAX - 1);
        self.0.drew.lock().unwrap().push(drew);
        self.0.homes.lock().unwrap().push((kind, home));
        Box::new(Errand(drew))
    }

    fn checks(&self) -> &'static [Check] {
        &[]
    }
}

impl Transaction for Errand {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        match on.run(&ERRAND, &[Value::Int(self.0)])? {
            0 => Ok(Ended::RollBack),
            _ => Ok(Ended::Commit),
        }
    }
}

pub(super) struct Planned(pub(super) Arc<Server>);

impl Actions for Planned {
    fn open(&self, _: &Request, _: Isolation) -> Result<Box<dyn Connection>, Failure> {
        let number = self.0.opened.fetch_add(1, Ordering::SeqCst);
        (self.0.door)(number)?;
        Ok(Box::new(ToServer { server: Arc::clone(&self.0), rolls_back: false }))
    }

    fn workload(
        &self,
        _: &Request,
        _: &mut dyn Connection,
        emit: &Emit<'_>,
    ) -> Result<Arc<dyn Workload>, Problem> {
        emit(Event::MarkerRead { loaded: None });
        Ok(Arc::new(Errands(Arc::clone(&self.0))))
    }

    fn load(&self, _: &Request, _: &Emit<'_>) -> Result<(), Problem> {
        Err(Problem::new("nothing is loaded here", ""))
    }

    fn check(&self, _: &Request, emit: &Emit<'_>) -> Result<(), Problem> {
        emit(Event::ChecksDone { took_ns: 1 });
        Ok(())
    }

    fn drop_tables(&self, _: &Request, _: &Emit<'_>) -> Result<(), Problem> {
        panic!("planned")
    }
}

/// At a rate over connections for so long, without warm-up.
pub(super) fn asked(rate: f64, connections: usize, duration_s: f64) -> Run {
    Run {
        connections,
        arrivals: Arrivals::Constant,
        phases: vec![Phase { rate: Some(rate), duration_s }],
        warmup_s: 0.0,
        drain_s: 5.0,
        shed_after_s: None,
        mix: BTreeMap::new(),
        isolation: Isolation::Serializable,
        tries: 3,
        think: 0.0,
        autocommit: false,
        norm: 2.0,
        samples: None,
    }
}

/// A closed loop instead.
pub(super) fn closed(connections: usize, duration_s: f64) -> Run {
    let phases = vec![Phase { rate: None, duration_s }];
    Run { arrivals: Arrivals::Closed, phases, ..asked(1.0, connections, 1.0) }
}

pub(super) fn request(run: Run) -> Request {
    Request {
        url: "planned://".to_owned(),
        workload: "errands".to_owned(),
        scale: None,
        options: BTreeMap::new(),
        seed: 42,
        protocol: None,
        connect_timeout_s: 1.0,
        action: Action::Run(run),
    }
}

/// The events of a run, and how it ended.
pub(super) struct Heard {
    pub(super) events: Vec<Event>,
    pub(super) ended: Result<(), Problem>,
}

impl Heard {
    pub(super) fn outcome(&self) -> &Outcome {
        let done = self
            .events
            .iter()
            .find_map(|event| if let Event::RunDone(outcome) = event { Some(outcome) } else { None });
        done.unwrap_or_else(|| panic!("{:?}", self.ended))
    }

    pub(super) fn seconds<'a>(&'a self) -> Vec<&'a Second> {
        let second = |event: &'a Event| if let Event::Second(second) = event { Some(second) } else { None };
        self.events.iter().filter_map(second).collect()
    }

    pub(super) fn troubles<'a>(&'a self) -> Vec<&'a str> {
        let text = |event: &'a Event| {
            if let Event::Trouble { text, .. } = event { Some(text.as_str()) } else { None }
        };
        self.events.iter().filter_map(text).collect()
    }
}

pub(super) fn ran(server: &Arc<Server>, asked: Run) -> Heard {
    let events = Mutex::new(Vec::new());
    let actions: Arc<dyn Actions> = Arc::new(Planned(Arc::clone(server)));
    let (request, control) = (request(asked.clone()), Arc::new(Control::default()));
    let ended = run(&request, &asked, &actions, &control, &|event| events.lock().unwrap().push(event));
    Heard { events: events.into_inner().unwrap(), ended }
}
