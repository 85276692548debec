//! A run: connections, warm-up, the measured part.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread;
use std::time::Duration;

use super::actions::Actions;
use super::backlog::Backlog;
use super::clock::{self, SECOND};
use super::conduct::{Conducted, Conductor};
use super::control::{Control, Halt, locked};
use super::finished::{WarmUp, outcome};
use super::gate::Gate;
use super::mix::Mix;
use super::open::{DueCount, Untaken};
use super::plan::Plan;
use super::sample::Samples;
use super::schedule::Schedule;
use super::seconds::Seconds;
use super::streams::{MEASURED, WARM_UP};
use super::stretch::Stage;
use super::stretch::Stretch;
use super::tally::Tally;
use super::worker::{Shared, Worker};
use crate::oltp::database::own::Before;
use crate::oltp::database::{Emit, Problem};
use crate::oltp::events::Event;
use crate::oltp::request::{Request, Run};
use crate::oltp::{Connection, Trouble, Workload};

/// From a stretch's making to its zero: all workers are then asleep.
const LEAD: i64 = SECOND / 20;

/// Performs a run to its end. Emits `RunDone`; the caller emits `ActionFailed`.
pub(super) fn run(
    request: &Request,
    run: &Run,
    actions: &Arc<dyn Actions>,
    control: &Arc<Control>,
    emit: &Emit<'_>,
) -> Result<(), Problem> {
    let plan = Plan::new(request, run)?;
    let samples = run.samples.as_deref().map(Samples::create).transpose()?;
    let looking = |failure| Problem::of("looking at the database", &failure);
    let mut first =
        actions.open(request, run.isolation).map_err(|failure| Problem::of("connecting", &failure))?;
    let workload = actions.workload(request, &mut *first, emit)?;
    let mix = Mix::new(workload.kinds(), &run.mix)?;
    workload.meet(&mut *first).map_err(looking)?;
    let (server, isolation) = first.described().map_err(looking)?;
    if run.autocommit
        && let Some(alone) = first.isolation_alone().map_err(looking)?
        && alone != isolation
    {
        return Err(Problem::usage(
            format!(
                "statements sent alone would run at the server's default isolation level, {alone}, not {isolation}"
            ),
            format!("give --isolation {}, or leave out --autocommit or --protocol", alone.replace(' ', "-")),
        ));
    }
    let encryption = first.encryption();
    let connections = connect(first, request, run, &**actions)?;
    emit(Event::ConnectionsOpened { server, isolation, encryption });
    let shared = Arc::new(shared(request, run, &plan, workload, mix, actions, control));
    let workers = start(connections, &shared)?;
    let done = Play { plan: &plan, norm: run.norm, shared: &shared, emit }.both(samples);
    shared.stage.end();
    take_leave(&workers);
    done
}

/// Connections are closed in good order, where the server lets them.
fn take_leave(workers: &[thread::JoinHandle<()>]) {
    let until = clock::now() + SECOND;
    let here = || workers.iter().any(|worker| !worker.is_finished());
    while here() && clock::now() < until {
        thread::sleep(Duration::from_millis(1));
    }
}

fn connect(
    first: Box<dyn Connection>,
    request: &Request,
    run: &Run,
    actions: &dyn Actions,
) -> Result<Vec<Box<dyn Connection>>, Problem> {
    let mut open = vec![first];
    while open.len() < run.connections {
        open.push(actions.open(request, run.isolation).map_err(|failure| {
            let next = match (failure.trouble, failure.next) {
                (Trouble::Full, _) => format!("ask for {} or fewer, or raise the server's limit", open.len()),
                (_, Some(next)) => next.to_owned(),
                _ => "see whether the server is well, and what its log says".to_owned(),
            };
            Problem::new(
                format!("of {} connections {} were opened: {failure}", run.connections, open.len()),
                next,
            )
        })?);
    }
    Ok(open)
}

fn shared(
    request: &Request,
    run: &Run,
    plan: &Plan,
    workload: Arc<dyn Workload>,
    mix: Mix,
    actions: &Arc<dyn Actions>,
    control: &Arc<Control>,
) -> Shared {
    let (actions, asked, isolation) = (Arc::clone(actions), request.clone(), run.isolation);
    Shared {
        workload,
        mix,
        connect: Box::new(move || actions.open(&asked, isolation)),
        seed: request.seed,
        tries: plan.tries,
        think: run.think,
        autocommit: run.autocommit,
        stage: Stage::default(),
        control: Arc::clone(control),
        reconnects: AtomicU64::new(0),
    }
}

fn start(
    connections: Vec<Box<dyn Connection>>,
    shared: &Arc<Shared>,
) -> Result<Vec<thread::JoinHandle<()>>, Problem> {
    let worker = |(number, connection)| {
        let worker = Worker::new(number, connection, Arc::clone(shared));
        thread::Builder::new().name(format!("oltp-{number}")).spawn(move || worker.work())
    };
    (0..).zip(connections).map(worker).collect::<Result<_, _>>().map_err(|error| {
        let what = format!("a thread for each connection cannot be had: {error}");
        Problem::new(what, "ask for fewer connections, or raise the limit of processes (ulimit -u)")
    })
}

struct Play<'a> {
    plan: &'a Plan,
    norm: f64,
    shared: &'a Shared,
    emit: &'a Emit<'a>,
}

impl Play<'_> {
    /// Warm-up and measured part.
    fn both(&self, samples: Option<Samples>) -> Result<(), Problem> {
        let warm_up = self.warm_up()?;
        let before = Before::now();
        let stretch = self.stretch(self.plan.schedule.as_ref(), self.plan.length, false)?;
        samples.into_iter().for_each(|samples| locked(&stretch.tally).keep(samples));
        (self.emit)(Event::MeasurementStarted { at_ns: stretch.zero });
        let conducted = self.play(&stretch, self.plan.schedule.as_ref(), self.plan.length, 0)?;
        if let Some(Halt::Broken(problem)) = self.shared.control.halted() {
            return Err(problem);
        }
        let outcome = outcome(self.plan, self.shared, &stretch, conducted, warm_up, before.own());
        (self.emit)(Event::RunDone(Box::new(outcome)));
        Ok(())
    }

    fn warm_up(&self) -> Result<WarmUp, Problem> {
        let length = self.plan.warm_up_length;
        if length == 0 {
            return Ok(WarmUp::default());
        }
        let stretch = self.stretch(self.plan.warm_up.as_ref(), length, true)?;
        let conducted = self.play(&stretch, self.plan.warm_up.as_ref(), length, -whole_seconds(length))?;
        match self.shared.control.halted() {
            Some(Halt::Broken(problem)) => return Err(problem),
            Some(_) => {
                return Err(Problem::new(
                    "the run was stopped in its warm-up: nothing was measured",
                    "run it again, if need be with a shorter warm-up",
                ));
            }
            None => {}
        }
        let counts = locked(&stretch.tally).counts();
        Ok(WarmUp { took: clock::now() - stretch.zero, counts, abandoned: conducted.abandoned })
    }

    fn stretch(
        &self,
        schedule: Option<&Schedule>,
        length: i64,
        warm_up: bool,
    ) -> Result<Arc<Stretch>, Problem> {
        let zero = clock::now() + LEAD;
        let drain = if schedule.is_some() { self.plan.drain } else { 0 };
        let gate = Gate::new(zero + length + drain, self.plan.shed_after);
        let untaken = schedule.map(|schedule| Untaken::new(schedule, zero)).transpose().map_err(unwalked)?;
        let last = warm_up.then(|| whole_seconds(length) - 1);
        let seconds = Seconds::new(zero, last);
        let kinds = self.shared.workload.kinds();
        let tally = Tally::new(kinds, self.norm, schedule.is_none(), zero, seconds, zero + length);
        let stream = if warm_up { WARM_UP } else { MEASURED };
        Ok(Arc::new(Stretch::new(zero, stream, gate, untaken, tally, self.plan.connections)))
    }

    fn play(
        &self,
        stretch: &Arc<Stretch>,
        schedule: Option<&Schedule>,
        length: i64,
        shift: i64,
    ) -> Result<Conducted, Problem> {
        let due =
            schedule.map(|schedule| DueCount::new(schedule, stretch.zero)).transpose().map_err(unwalked)?;
        self.shared.stage.play(Arc::clone(stretch));
        let conductor = Conductor {
            shared: self.shared,
            control: &self.shared.control,
            stretch,
            phases: if shift < 0 { &[] } else { &self.plan.phases },
            length,
            due,
            shift,
            emit: self.emit,
            cpu: clock::process_cpu(),
            backlog: Backlog::default(),
        };
        Ok(conductor.conduct())
    }
}

fn unwalked(what: String) -> Problem {
    Problem::new(what, "leave the trace as it is while it is used")
}

fn whole_seconds(length: i64) -> i64 {
    (length + SECOND - 1) / SECOND
}
