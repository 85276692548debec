//! Windows of a recording, as the records of one thread come by.

use crate::recording::Span;

/// Goes through windows with a thread's records, in order of time.
pub(super) struct Cursor<'a> {
    /// Windows that are not over yet.
    spans: &'a [Span],
    inside: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(spans: &'a [Span]) -> Self {
        Self { spans, inside: false }
    }

    /// The window of a record, and whether it is the thread's first in it: since the last window exits may have passed
    /// unseen. `None`: it is in no window.
    pub(super) fn window(&mut self, ticks: u64) -> Option<(&'a Span, bool)> {
        while self.spans.first().is_some_and(|span| span.end <= ticks) {
            self.spans = &self.spans[1..];
            self.inside = false;
        }
        let span = self.spans.first().filter(|span| span.begin <= ticks)?;
        Some((span, !std::mem::replace(&mut self.inside, true)))
    }
}
