//! One call of the driver: a request comes in, events go out, and the caller may say stop or go.

use std::io::{BufRead, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::actions::Actions;
use super::control::Control;
use super::control::EventWriter;
use super::run::run;
use super::worker::words;
use crate::oltp::Mistake;
use crate::oltp::database::{Emit, Problem};
use crate::oltp::events::Event;
use crate::oltp::request::{Action, Request};

/// No request is longer.
const LONGEST_LINE: u64 = 1 << 20;

/// The exit code: 0 when the action's last event was written, 1 when it cannot be done, 2 when the request is at fault.
///
/// `gone` is called when the input ends, or nobody reads the output, before that: whoever asked is no more, and it
/// should end the process.
pub fn serve(
    mut input: Box<dyn BufRead + Send>,
    output: Box<dyn Write + Send>,
    actions: Arc<dyn Actions>,
    gone: fn(),
) -> i32 {
    let writer = EventWriter::new(output, gone);
    let control = Arc::new(Control::default());
    let done = Arc::new(AtomicBool::new(false));
    let emit = |event: Event| {
        if matches!(
            event,
            Event::LoadDone { .. } | Event::ChecksDone { .. } | Event::TablesDropped | Event::RunDone(_)
        ) {
            done.store(true, Ordering::SeqCst);
        }
        writer.write(&event);
    };
    let ended = read(&mut input).and_then(|request| {
        hear(input, Arc::clone(&control), Arc::clone(&done), gone);
        let act = AssertUnwindSafe(|| act(&request, &actions, &control, &emit));
        catch_unwind(act).unwrap_or_else(|panic| {
            let what = format!("the driver failed: {}", words(&*panic));
            Err(Problem::new(what, "this is a fault of Tare's: report it with these words"))
        })
    });
    let Err(problem) = ended else { return 0 };
    let usage = problem.usage;
    done.store(true, Ordering::SeqCst);
    let Problem { what, next, .. } = problem;
    writer.write(&Event::ActionFailed { what, next, usage });
    if usage { 2 } else { 1 }
}

fn read(input: &mut impl BufRead) -> Result<Request, Problem> {
    let mut line = String::new();
    let read = input.take(LONGEST_LINE).read_line(&mut line);
    let unread = |why: String| {
        Problem::usage(format!("the driver's request cannot be read: {why}"), "give one line of JSON")
    };
    read.map_err(|error| unread(error.to_string()))?;
    serde_json::from_str(&line).map_err(|error| unread(error.to_string()))
}

/// Listens until the input ends.
fn hear(input: Box<dyn BufRead + Send>, control: Arc<Control>, done: Arc<AtomicBool>, gone: fn()) {
    thread::spawn(move || {
        for line in input.lines().map_while(Result::ok) {
            if line.trim() == "stop" {
                control.stop();
            }
        }
        if !done.load(Ordering::SeqCst) {
            gone();
        }
    });
}

fn act(
    request: &Request,
    actions: &Arc<dyn Actions>,
    control: &Arc<Control>,
    emit: &Emit<'_>,
) -> Result<(), Problem> {
    if let Some(protocol) = request.protocol {
        protocol.check(&request.url).map_err(|Mistake(what)| {
            Problem::usage(format!("--protocol does not apply: {what}"), "leave it out, or give another")
        })?;
    }
    match &request.action {
        Action::Load { .. } => actions.load(request, emit),
        Action::Check { .. } => actions.check(request, emit),
        Action::Drop => actions.drop_tables(request, emit),
        Action::Run(asked) => run(request, asked, actions, control, emit),
    }
}
