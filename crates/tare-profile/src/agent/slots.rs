//! What the server's threads have left in their slots: records, counts, texts.

use std::sync::atomic::Ordering;

use tare_rings::layout::{Text, state};
use tare_rings::{Kind, Record};

use super::{Agent, NOBODY};

impl Agent {
    /// Entries by place: of slots that are free again and of those in use.
    pub(super) fn sums(&self) -> Vec<u64> {
        let mut sums = self.counted.clone();
        for slot in 0..self.used() {
            if self.shared.slots()[slot].state.load(Ordering::Acquire) == state::FREE {
                continue;
            }
            for (sum, count) in sums.iter_mut().zip(self.shared.counts(slot)) {
                *sum += u64::from(count.load(Ordering::Relaxed));
            }
        }
        sums
    }

    pub(super) fn used(&self) -> usize {
        (self.shared.header().used.load(Ordering::Acquire) as usize).min(self.shared.plan().slots as usize)
    }

    /// Gives a slot back whose thread has ended; what it lost without telling is returned.
    pub(super) fn free(&mut self, slot: usize) -> u64 {
        let about = &self.shared.slots()[slot];
        let mut untold = about.lost.swap(0, Ordering::Relaxed);
        if about.state.load(Ordering::Acquire) == state::CLAIMING {
            untold = 0;
        } else {
            for (sum, count) in self.counted.iter_mut().zip(self.shared.counts(slot)) {
                // Untouched pages stay so: a store would fill them.
                if count.load(Ordering::Relaxed) != 0 {
                    *sum += u64::from(count.swap(0, Ordering::Relaxed));
                }
            }
        }
        about.tail.store(about.head.load(Ordering::Acquire), Ordering::Release);
        // The next owner is not to be taken for this one before it has said who it is.
        about.pid.store(0, Ordering::Relaxed);
        about.tid.store(0, Ordering::Relaxed);
        about.state.store(state::FREE, Ordering::Release);
        untold
    }

    /// From places in the table to numbers of the recording; records of functions never asked for are left out.
    pub(super) fn translate(&self, records: &mut Vec<Record>) {
        records.retain_mut(|record| match record.kind() {
            Some(kind @ (Kind::Enter | Kind::Exit | Kind::Cut)) => {
                match self.ids.get(record.subject() as usize) {
                    Some(id) if *id != NOBODY => {
                        *record = Record::new(record.time, kind, *id, record.detail);
                        true
                    }
                    _ => false,
                }
            }
            Some(_) => true,
            None => false,
        });
    }

    /// Frees the places of texts once half of them are taken: statements with their literals in them are without number.
    pub(super) fn new_texts(&mut self) -> Vec<(u32, String)> {
        let kept = self.shared.header().kept.load(Ordering::Acquire);
        if self.kept.replace(kept) == Some(kept) {
            return Vec::new();
        }
        let ready = |text: &&Text| text.ready.load(Ordering::Acquire) == 1;
        let all = self.shared.texts();
        let scarce = all.iter().filter(ready).count() > all.len() / 2;
        let mut texts = Vec::new();
        for text in all.iter().filter(ready) {
            let hash = text.hash.load(Ordering::Relaxed);
            if self.told.insert(hash) {
                let end = text.text.iter().position(|byte| *byte == 0).unwrap_or(text.text.len());
                texts.push((hash, String::from_utf8_lossy(&text.text[..end]).into_owned()));
            }
            if scarce {
                text.ready.store(0, Ordering::Relaxed);
                text.hash.store(0, Ordering::Release);
            }
        }
        texts
    }
}
