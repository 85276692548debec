//! One thread's calls, followed through entries, exits, and exits that never come.

use super::paths::Paths;
use super::sums::Sums;
use crate::backend::FunctionId;

/// Calls may nest so deep; deeper ones make their transaction invalid (`Why::Deep`).
pub const MAX_DEPTH: usize = 512;

/// Whose time runs: a transaction, by a number of the thread's own (or by its annotation's id).
pub(super) type Owner = u64;
/// Nobody's: calls outside of transactions.
pub(super) const NOBODY: Owner = 0;

const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Frame {
    function: FunctionId,
    path: u32,
    owner: Owner,
    /// Calls of the function by itself that this frame stands for.
    times: u32,
    /// The next frame below of the running interval's owner.
    below: u32,
    /// Since when this interval has been in it, ns.
    since: u64,
    /// Of that, in calls from it that were recorded, ns.
    children: u64,
}

/// What an exit did.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// It left its frame.
    Frame,
    /// It left its frame after frames above whose exit was not recorded.
    Several,
    /// It has no frame.
    Nothing,
}

/// Frames from the bottom. Those of the running interval's owner are a chain; the others are transparent to it: calls
/// from before it, which are not in the transaction, and calls of other transactions that wait.
pub(super) struct Stack {
    frames: Vec<Frame>,
    owner: Owner,
    tip: u32,
    /// Of the running interval.
    since: u64,
    /// Of it, in calls from the root, ns.
    children: u64,
    /// Functions whose frames the last exit of a caller closed; an exit of theirs that comes late is theirs.
    missed: Vec<FunctionId>,
    /// Frames of transactions that were closed without an exit of their own.
    pub(super) unwound: u64,
}

impl Default for Stack {
    fn default() -> Self {
        Self {
            frames: Vec::new(),
            owner: NOBODY,
            tip: NONE,
            since: 0,
            children: 0,
            missed: Vec::new(),
            unwound: 0,
        }
    }
}

impl Stack {
    pub(super) fn depth(&self) -> usize {
        self.frames.len()
    }

    /// The same owner's frames that are still open go on.
    pub(super) fn begin(&mut self, owner: Owner, now: u64) {
        debug_assert!(self.owner == NOBODY && owner != NOBODY);
        (self.owner, self.since, self.children, self.tip) = (owner, now, 0, NONE);
        for (place, frame) in (0..).zip(&mut self.frames).filter(|(_, frame)| frame.owner == owner) {
            (frame.since, frame.children, frame.below) = (now, 0, self.tip);
            self.tip = place;
        }
    }

    /// Open frames are summed up to now, and stay. Returns the interval's length.
    pub(super) fn end(&mut self, now: u64, sums: &mut Sums) -> u64 {
        while self.tip != NONE {
            self.account(self.tip as usize, now, sums);
        }
        let length = now - self.since;
        sums.time(Paths::ROOT, length, length - self.children);
        self.owner = NOBODY;
        length
    }

    /// This owner's frames are nobody's: it is over.
    pub(super) fn disown(&mut self, owner: Owner) {
        self.frames.iter_mut().filter(|frame| frame.owner == owner).for_each(|frame| frame.owner = NOBODY);
    }

    /// Nothing is known of the thread's calls any more.
    pub(super) fn clear(&mut self) {
        debug_assert!(self.owner == NOBODY);
        self.frames.clear();
        self.missed.clear();
    }

    /// False where it is too deep to be followed.
    #[inline]
    pub(super) fn enter(
        &mut self,
        function: FunctionId,
        site: u32,
        now: u64,
        paths: &mut Paths,
        sums: &mut Sums,
    ) -> bool {
        if !self.missed.is_empty() {
            self.missed.clear();
        }
        if let Some(top) = self.frames.last_mut()
            && top.function == function
            && top.owner == self.owner
        {
            top.times += 1;
            if self.owner != NOBODY {
                sums.call(top.path, 1);
            }
            return true;
        }
        if self.frames.len() == MAX_DEPTH {
            return false;
        }
        let mut frame =
            Frame { function, path: 0, owner: self.owner, times: 1, below: NONE, since: now, children: 0 };
        if self.owner != NOBODY {
            frame.path = paths.child(self.tip_path(), function, site);
            frame.below = self.tip;
            sums.call(frame.path, 1);
            self.tip = self.frames.len() as u32;
        }
        self.frames.push(frame);
        true
    }

    /// A call of which only the entry is known.
    pub(super) fn touch(&mut self, function: FunctionId, site: u32, paths: &mut Paths, sums: &mut Sums) {
        if self.owner != NOBODY {
            sums.call(paths.child(self.tip_path(), function, site), 1);
        }
    }

    #[inline]
    fn tip_path(&self) -> u32 {
        if self.tip == NONE { Paths::ROOT } else { self.frames[self.tip as usize].path }
    }

    /// The innermost call of this function is over, and with it all calls inside.
    #[inline]
    pub(super) fn exit(&mut self, function: FunctionId, now: u64, sums: &mut Sums) -> Left {
        if let Some(top) = self.frames.last()
            && top.function == function
        {
            self.leave_top(now, sums);
            return Left::Frame;
        }
        self.exit_below(function, now, sums)
    }

    #[cold]
    fn exit_below(&mut self, function: FunctionId, now: u64, sums: &mut Sums) -> Left {
        if let Some(late) = self.missed.iter().position(|missed| *missed == function) {
            self.missed.swap_remove(late);
            self.unwound = self.unwound.saturating_sub(1);
            return Left::Frame;
        }
        let Some(place) = self.frames.iter().rposition(|frame| frame.function == function) else {
            return Left::Nothing;
        };
        self.missed.clear();
        while self.frames.len() > place + 1 {
            let top = self.frames[self.frames.len() - 1];
            if top.owner != NOBODY {
                self.unwound += u64::from(top.times);
                self.missed.extend((0..top.times).map(|_| top.function));
            }
            self.pop(now, sums);
        }
        self.leave_top(now, sums);
        Left::Several
    }

    #[inline]
    fn leave_top(&mut self, now: u64, sums: &mut Sums) {
        if let Some(top) = self.frames.last_mut()
            && top.times > 1
        {
            top.times -= 1;
            return;
        }
        self.pop(now, sums);
    }

    #[inline]
    fn pop(&mut self, now: u64, sums: &mut Sums) {
        let place = self.frames.len() - 1;
        if self.tip as usize == place {
            self.account(place, now, sums);
        }
        self.frames.pop();
    }

    /// Sums up the chain's tip; the next one below becomes the tip.
    #[inline]
    fn account(&mut self, place: usize, now: u64, sums: &mut Sums) {
        let frame = self.frames[place];
        let inclusive = now - frame.since;
        sums.time(frame.path, inclusive, inclusive - frame.children);
        self.tip = frame.below;
        match self.frames.get_mut(frame.below as usize) {
            Some(caller) => caller.children += inclusive,
            None => self.children += inclusive,
        }
    }
}
