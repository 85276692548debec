//! Where intervals begin and end: by marker functions, root functions, and annotations.

use std::mem;

use tare_rings::Kind;

use super::join::{Late, Piece, Reached};
use super::labels::Candidate;
use super::roles::{State, is};
use super::stack::{Left, Owner};
use super::threads::{Assembly, Thread, Way};
use super::transaction::Raw;
use crate::backend::FunctionId;
use crate::profile::{Transaction, Why};
use crate::rules::Rules;

const LOW: u64 = (1 << 28) - 1; // what a label has of its id

impl Assembly<'_> {
    /// Of a function that is not a plain one.
    pub(super) fn enter_special(&mut self, thread: &mut Thread, function: FunctionId, detail: u32, role: u8) {
        if role & is::MARKER != 0 {
            match role & (is::OPENS | is::CLOSES) {
                0 => self.state(thread, detail),
                is::OPENS => self.opening_mark(thread),
                _ => self.ended(thread),
            }
            return;
        }
        let site = if role & is::SITELESS == 0 { detail } else { 0 };
        if role & is::ROOT != 0 {
            self.root(thread, site);
            if role & is::TEXT != 0 {
                self.named(thread, self.words.text(detail));
            }
        }
        if role & is::ENTRY_ONLY == 0 {
            self.enter(thread, function, site);
        } else {
            thread.stack.touch(function, site, &mut self.paths, &mut self.sums);
        }
        // A `bool` is in the lowest byte of its register.
        let opens = role & is::SITELESS == 0 || detail & 0xff != 0;
        if role & is::OPENS != 0 && opens && thread.running() {
            (thread.opened, thread.doubt) = (true, None);
        }
        if role & is::CLOSES != 0 && thread.running() {
            self.closing(thread);
        }
    }

    fn begin_next(&mut self, thread: &mut Thread) {
        thread.owners += 1;
        self.begin(thread, thread.owners);
    }

    fn named(&self, thread: &mut Thread, text: u32) {
        if let Some(open) = &mut thread.open {
            open.named.or(self.labels.of(text));
        }
    }

    fn state(&mut self, thread: &mut Thread, detail: u32) {
        match self.words.state(detail) {
            State::Running => {
                match thread.open {
                    Some(_) => self.resume(thread),
                    None => self.begin_next(thread),
                }
                self.named(thread, self.words.text(detail));
            }
            State::Pausing => self.pause(thread),
            State::Ended => self.ended(thread),
            State::Other => {}
        }
    }

    /// Its thread's transaction is over. Of one that had begun before the window, this may be all that is seen.
    fn ended(&mut self, thread: &mut Thread) {
        self.ended_unseen(thread);
        self.close(thread, Reached::End);
        thread.doubt = None;
    }

    /// A thread that was never seen before has not begun anything: a new connection says that it is idle.
    fn ended_unseen(&mut self, thread: &Thread) {
        if thread.open.is_none() && thread.doubt == Some(Why::Unfinished) && thread.before > 0 {
            self.done.push(self.instant(thread, Why::Unfinished));
        }
    }

    fn instant(&self, thread: &Thread, why: Why) -> Raw {
        let transaction = Transaction { why, ..Transaction::at(thread.now, self.window(thread), thread.id) };
        Raw { transaction, named: Candidate::default(), cells: 0..0 }
    }

    fn opening_mark(&mut self, thread: &mut Thread) {
        if let Some(open) = &mut thread.open {
            open.speaks_against(Why::Unnested);
            self.close(thread, Reached::Nothing);
        }
        thread.doubt = None;
        self.begin_next(thread);
    }

    /// An interval begins at an outermost call. One from the very place that called the outermost one tells that this
    /// one was left by a longjmp that nobody saw.
    fn root(&mut self, thread: &mut Thread, site: u32) {
        if thread.running() {
            let again = site != 0 && thread.open.as_ref().is_some_and(|open| open.site == site);
            if !again {
                return;
            }
            let now = mem::replace(&mut thread.now, thread.before);
            self.interrupt(thread, Why::Unwound); // it ends where it was last seen
            thread.now = now;
        }
        match thread.open {
            Some(_) => self.resume(thread),
            None => self.begin_next(thread),
        }
        self.root_seen(thread);
        thread.floor = thread.stack.depth() + 1;
        if let Some(open) = &mut thread.open {
            open.site = site;
        }
    }

    /// A transaction that ends without a beginning had begun before, and those told apart since then were parts of it.
    fn closing(&mut self, thread: &mut Thread) {
        if let Some(why) = thread.doubt.take().filter(|_| !thread.opened) {
            if let Some(open) = &mut thread.open {
                open.speaks_against(why);
            }
            self.done.truncate(thread.doubtful);
        }
        thread.opened = false;
    }

    /// An exit that ends an interval, has no entry, or was not a return.
    #[cold]
    pub(super) fn left_special(&mut self, thread: &mut Thread, function: FunctionId, way: Way, left: Left) {
        let role = self.role(thread, function);
        if left == Left::Nothing && role & is::ROOT != 0 {
            self.root_ended_unseen(thread);
        }
        let Some(open) = thread.open.as_mut().filter(|open| open.running()) else { return };
        if left == Left::Nothing {
            if role & (is::MARKER | is::ENTRY_ONLY) == 0 {
                open.speaks_against(Why::Unnested);
            }
            return;
        }
        thread.stack.unwound += u64::from(way != Way::Returned);
        if thread.stack.depth() >= thread.floor {
            return;
        }
        if way == Way::Unwound || role & is::ROOT == 0 {
            open.speaks_against(Why::Unwound);
        }
        if thread.opened {
            self.pause(thread);
        } else {
            self.close(thread, Reached::End);
        }
    }

    /// A call of the root that had begun before the window is over. Whether it was a transaction's last, closing tells.
    fn root_ended_unseen(&mut self, thread: &mut Thread) {
        self.ended_unseen(thread);
        self.root_seen(thread);
    }

    /// Where each call of the root is a transaction, one of them tells where the thread is.
    fn root_seen(&self, thread: &mut Thread) {
        if matches!(self.rules, Rules::Function { .. }) {
            thread.doubt = None;
        }
    }

    /// A mark of an annotation. A thread works on one transaction at a time: turning to another suspends it.
    pub(super) fn mark(&mut self, thread: &mut Thread, kind: Kind, id: u64) {
        let owner = id + 1;
        let runs = thread.open.as_ref().is_some_and(|open| open.owner == owner);
        match kind {
            Kind::Resume if runs => {}
            Kind::Begin | Kind::Resume => {
                if let Some(open) = thread.open.as_mut().filter(|_| runs) {
                    open.speaks_against(Why::Unnested);
                }
                self.close(thread, if runs { Reached::Nothing } else { Reached::Suspend });
                self.begin(thread, owner);
                if let Some(open) = &mut thread.open {
                    open.begun = kind == Kind::Begin;
                }
            }
            Kind::Suspend if runs => self.close(thread, Reached::Suspend),
            Kind::Suspend => {} // suspended already, or had begun before: its other marks tell
            _ if runs => self.close(thread, Reached::End),
            _ => self.over(thread, owner),
        }
    }

    /// A transaction that this thread does not work on is over: an interval of no length ends it.
    fn over(&mut self, thread: &mut Thread, owner: Owner) {
        let raw = self.instant(thread, Why::Valid);
        self.joining.add(Piece { owner, begun: false, reached: Reached::End, raw });
        thread.stack.disown(owner);
    }

    pub(super) fn label(&mut self, thread: &mut Thread, low: u32, hash: u32) {
        let annotation = *self.rules == Rules::Annotation;
        let named = Candidate::given(hash);
        let its_own = |owner: Owner| !annotation || low == 0 || (owner - 1) & LOW == u64::from(low);
        match thread.open.as_mut().filter(|open| its_own(open.owner)) {
            Some(open) => open.named.or(named),
            None => self.joining.label(Late { pid: thread.id.0, low, at: thread.now, named }),
        }
    }
}
