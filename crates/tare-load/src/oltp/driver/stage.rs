//! Which stretch is played: set by the conductor, waited for by the workers.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::control::locked;
use super::stretch::Stretch;

/// Stretches are numbered from 1.
#[derive(Default)]
pub(super) struct Stage {
    playing: Mutex<Playing>,
    changed: Condvar,
}

#[derive(Default)]
struct Playing {
    number: usize,
    stretch: Option<Arc<Stretch>>,
    over: bool,
}

impl Stage {
    /// The next one begins.
    pub(super) fn play(&self, stretch: Arc<Stretch>) {
        let mut playing = locked(&self.playing);
        playing.number += 1;
        playing.stretch = Some(stretch);
        self.changed.notify_all();
    }

    /// There are no more.
    pub(super) fn end(&self) {
        locked(&self.playing).over = true;
        self.changed.notify_all();
    }

    /// Waits for one after this. None: there are no more.
    pub(super) fn after(&self, number: usize) -> Option<(usize, Arc<Stretch>)> {
        let waiting = |playing: &mut Playing| !playing.over && playing.number <= number;
        let playing = self.changed.wait_while(locked(&self.playing), waiting);
        let playing = playing.unwrap_or_else(PoisonError::into_inner);
        let stretch = playing.stretch.clone().filter(|_| !playing.over)?;
        Some((playing.number, stretch))
    }
}
