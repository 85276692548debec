//! The calls in which a thread was seen last: what it did when it ended, or since it hangs.

use tare_rings::{Kind, Record};

use super::cursor::Cursor;
use super::stack::MAX_DEPTH;
use crate::Result;
use crate::backend::FunctionId;
use crate::recording::Recording;

/// Calls that a thread was in at the end of its records.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LastCalls {
    /// The thread's last record that is no end of a task, CLOCK_MONOTONIC, ns.
    pub seen_ns: u64,
    /// The outermost first; empty: it was in no watched function.
    pub functions: Vec<FunctionId>,
    /// When the window of that record was over, CLOCK_MONOTONIC, ns: from then on the thread may leave these calls
    /// unseen.
    pub watched_until_ns: u64,
}

/// Of this process and thread; `None`: the recording has nothing of it.
///
/// A thread that ends leaves its calls by cuts, which are its last records: it was in these calls until then.
pub fn last_calls(recording: &Recording, thread: (i32, i32)) -> Result<Option<LastCalls>> {
    let line = recording.nanoseconds();
    let mut windows = Cursor::new(&recording.spans);
    let mut open: Vec<FunctionId> = Vec::new();
    let mut left: Vec<FunctionId> = Vec::new(); // by cuts since the last other record, the innermost first
    let mut seen = None;
    let mut watched_until_ns = 0;
    recording.thread(thread, |record: Record| {
        let Some((span, first)) = windows.window(record.time) else { return };
        if first {
            open.clear();
            left.clear();
        }
        watched_until_ns = span.window.end_ns;
        let function = record.subject();
        if record.kind() == Some(Kind::Cut) {
            left.extend(leave(&mut open, function).into_iter().rev());
            seen.get_or_insert(line.at(record.time));
            return;
        }
        left.clear();
        seen = Some(line.at(record.time));
        match record.kind() {
            Some(Kind::Enter) if !span.entry_only.contains(&function) && open.len() < MAX_DEPTH => {
                open.push(function);
            }
            Some(Kind::Exit) => drop(leave(&mut open, function)),
            Some(Kind::Lost) => open.clear(),
            _ => {}
        }
    })?;
    open.extend(left.into_iter().rev());
    Ok(seen.map(|seen_ns| LastCalls { seen_ns, functions: open, watched_until_ns }))
}

/// The innermost call of this function and those inside are over. Returns them, the outermost first.
fn leave(open: &mut Vec<FunctionId>, function: FunctionId) -> Vec<FunctionId> {
    match open.iter().rposition(|one| *one == function) {
        Some(place) => open.split_off(place),
        None => Vec::new(),
    }
}
