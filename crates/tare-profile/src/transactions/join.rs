//! Intervals that annotations mark, put together by id (§3.1): a transaction begins with the first and ends with the last.

use std::collections::HashMap;

use super::labels::Candidate;
use super::paths::Paths;
use super::stack::Owner;
use super::sums::Sums;
use super::transaction::Raw;
use crate::profile::{Cell, Path, Transaction, Why};

/// An interval of one thread's.
pub(super) struct Piece {
    pub(super) owner: Owner,
    pub(super) begun: bool,
    pub(super) reached: Reached,
    pub(super) raw: Raw,
}

/// Which mark ended an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reached {
    Suspend,
    End,
    Nothing,
}

/// A time of which records are missing: of one process, or of all.
pub(super) struct Silence {
    pub(super) pid: Option<i32>,
    pub(super) from: u64,
    pub(super) to: u64,
}

/// A label of a transaction that its thread did not work on.
pub(super) struct Late {
    pub(super) pid: i32,
    pub(super) low: u32,
    pub(super) at: u64,
    pub(super) named: Candidate,
}

/// What there is to join.
#[derive(Default)]
pub(super) struct Joining {
    pieces: Vec<Piece>,
    silences: Vec<Silence>,
    labels: HashMap<(i32, u32), Vec<(u64, Candidate)>>,
}

impl Joining {
    pub(super) fn add(&mut self, piece: Piece) {
        self.pieces.push(piece);
    }

    /// Of the piece that was added last.
    pub(super) fn cpu(&mut self, cpu: Option<u64>) {
        if let Some(piece) = self.pieces.last_mut() {
            piece.raw.transaction.cpu_ns = cpu;
        }
    }

    pub(super) fn silent(&mut self, silence: Silence) {
        self.silences.push(silence);
    }

    pub(super) fn label(&mut self, late: Late) {
        self.labels.entry((late.pid, late.low)).or_default().push((late.at, late.named));
    }

    /// The transactions and their cells. `last`: the last window's number.
    pub(super) fn finish(mut self, last: u32, sums: &mut Sums, cells: &[Cell]) -> (Vec<Raw>, Vec<Cell>) {
        // Of those that begin at one instant, on several threads, the one that can come first does.
        self.pieces.sort_by_key(|piece| {
            let Transaction { pid, begin_ns, .. } = piece.raw.transaction;
            (pid, piece.owner, begin_ns, end(piece), !piece.begun, piece.reached == Reached::End)
        });
        let silences = Silences::new(&self.silences);
        let mut joined =
            Joined { last, silences, labels: self.labels, sums, done: Vec::new(), cells: Vec::new() };
        let same = |one: &Piece, other: &Piece| {
            (one.raw.transaction.pid, one.owner) == (other.raw.transaction.pid, other.owner)
        };
        for pieces in self.pieces.chunk_by(same) {
            runs(pieces, |run, reused| joined.join(run, reused, cells));
        }
        (joined.done, joined.cells)
    }
}

/// Splits the intervals of one id, in time, where one transaction is over and the id is used again; says whether it is
/// used again before it was over.
fn runs(pieces: &[Piece], mut take: impl FnMut(&[Piece], bool)) {
    let mut first = 0;
    let mut over = None;
    for (place, piece) in pieces.iter().enumerate() {
        let begin = piece.raw.transaction.begin_ns;
        let next = over.map_or(piece.begun, |over| begin >= over);
        if place > first && next {
            take(&pieces[first..place], over.is_none());
            (first, over) = (place, None);
        }
        if piece.reached == Reached::End {
            over = over.max(Some(end(piece)));
        }
    }
    take(&pieces[first..], false);
}

fn end(piece: &Piece) -> u64 {
    piece.raw.transaction.begin_ns + piece.raw.transaction.duration_ns
}

struct Joined<'a> {
    last: u32,
    silences: Silences,
    labels: HashMap<(i32, u32), Vec<(u64, Candidate)>>,
    sums: &'a mut Sums,
    done: Vec<Raw>,
    cells: Vec<Cell>,
}

impl Joined<'_> {
    fn join(&mut self, pieces: &[Piece], reused: bool, cells: &[Cell]) {
        let first = &pieces[0].raw.transaction;
        let times = Times::of(pieces);
        let why = self.why(pieces, reused, &times);
        if times.overlap == 0 {
            pieces
                .iter()
                .flat_map(|piece| &cells[piece.raw.cells.clone()])
                .for_each(|cell| self.sums.add(cell));
        } else {
            self.sums.call(Paths::ROOT, pieces.iter().map(|piece| piece.raw.transaction.intervals).sum());
            self.sums.time(Paths::ROOT, times.service, times.service);
        }
        if times.waits > 0 {
            self.sums.call(Path::WAITING, times.waits);
            self.sums.time(Path::WAITING, times.waited, times.waited);
            self.sums.time(Paths::ROOT, times.waited, 0);
        }
        let begun = self.cells.len();
        self.sums.flush(self.done.len() as u32, &mut self.cells);
        let named = self.named(pieces, &times);
        let worked = || pieces.iter().map(|piece| &piece.raw.transaction).filter(|one| one.intervals > 0);
        let transaction = Transaction {
            duration_ns: times.end - first.begin_ns,
            service_ns: times.service,
            waited_ns: times.waited,
            overlap_ns: times.overlap,
            cpu_ns: worked().map(|one| one.cpu_ns).sum(),
            intervals: worked().map(|one| one.intervals).sum(),
            label: named.label,
            ended: pieces.iter().any(|piece| piece.reached == Reached::End),
            why,
            ..*first
        };
        self.done.push(Raw { transaction, named, cells: begun..self.cells.len() });
    }

    fn why(&self, pieces: &[Piece], reused: bool, times: &Times) -> Why {
        let first = &pieces[0].raw.transaction;
        let end = &pieces[pieces.len() - 1].raw.transaction;
        let told = pieces.iter().map(|piece| piece.raw.transaction.why).find(|why| *why != Why::Valid);
        let ended = pieces.iter().any(|piece| piece.reached == Reached::End);
        match told {
            _ if self.silences.touch(first.pid, first.begin_ns, times.end) => Why::Lost,
            Some(why) => why,
            None if !pieces[0].begun => Why::Unfinished,
            None if reused => Why::Unnested,
            None if !ended && end.window == self.last => Why::Unfinished,
            None if !ended => Why::Changed,
            None if first.window != end.window => Why::Changed,
            None if times.overlap > 0 => Why::Overlap,
            None => Why::Valid,
        }
    }

    fn named(&self, pieces: &[Piece], times: &Times) -> Candidate {
        let first = &pieces[0];
        let mut named = Candidate::default();
        pieces.iter().for_each(|piece| named.or(piece.raw.named));
        let low = (first.owner - 1) as u32 & ((1 << 28) - 1);
        let late = self.labels.get(&(first.raw.transaction.pid, low)).into_iter().flatten();
        let within = first.raw.transaction.begin_ns..=times.end;
        late.filter(|(at, _)| within.contains(at)).for_each(|(_, late)| named.or(*late));
        named
    }
}

/// Of intervals in the order of their beginnings.
struct Times {
    end: u64,
    /// In which at least one ran.
    service: u64,
    /// In which none did.
    waited: u64,
    /// In which several did.
    overlap: u64,
    waits: u32,
}

impl Times {
    fn of(pieces: &[Piece]) -> Self {
        let begin = pieces[0].raw.transaction.begin_ns;
        let mut times = Self { end: begin, service: 0, waited: 0, overlap: 0, waits: 0 };
        let mut twice = begin; // up to where overlap is counted
        for (place, piece) in pieces.iter().enumerate() {
            let (from, to) = (piece.raw.transaction.begin_ns, end(piece));
            if from >= times.end && place > 0 {
                times.waited += from - times.end;
                times.waits += 1;
            }
            times.service += to.saturating_sub(from.max(times.end));
            let both = to.min(times.end);
            times.overlap += both.saturating_sub(from.max(twice));
            twice = twice.max(both);
            times.end = times.end.max(to);
        }
        times
    }
}

/// Times with missing records, to be asked which transactions they touch.
struct Silences(HashMap<Option<i32>, Vec<(u64, u64)>>);

impl Silences {
    /// By beginning, each with the latest end of those up to it.
    fn new(silences: &[Silence]) -> Self {
        let mut by_pid: HashMap<_, Vec<(u64, u64)>> = HashMap::new();
        for one in silences {
            by_pid.entry(one.pid).or_default().push((one.from, one.to));
        }
        for list in by_pid.values_mut() {
            list.sort_unstable();
            let mut latest = 0;
            list.iter_mut().for_each(|(_, to)| {
                latest = latest.max(*to);
                *to = latest;
            });
        }
        Self(by_pid)
    }

    fn touch(&self, pid: i32, begin: u64, end: u64) -> bool {
        [None, Some(pid)].iter().filter_map(|pid| self.0.get(pid)).any(|list| {
            let before = list.partition_point(|(from, _)| *from < end);
            before > 0 && list[before - 1].1 > begin
        })
    }
}
