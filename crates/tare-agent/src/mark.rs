//! Markers: what a program says about its transactions itself (`tare_profile.h`, `tare-annotate`).

use std::ffi::c_char;

use tare_rings::{Kind, Record};

use crate::runtime;

/// Writes a marker to this thread's ring while a profiler listens. `kind`: 4 begin, 5 suspend, 6 resume, 7 end, 8 label
/// (`tare_rings::Kind`); `id`: the transaction's, up to 60 bits; `label`: its type, or null. Other kinds do nothing.
///
/// # Safety
/// `label` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tare_agent_mark(kind: u32, id: u64, label: *const c_char) {
    if !runtime::marks() {
        return;
    }
    let Some(kind) = Kind::from_number(kind).filter(|kind| (4..=8).contains(&(*kind as u32))) else { return };
    if kind != Kind::Label {
        let mark = Record::with_id(0, kind, id);
        runtime::put(mark.word, mark.detail);
    }
    if !label.is_null() {
        // SAFETY: the caller's promise.
        let hash = unsafe { runtime::text(label) };
        runtime::put(Record::new(0, Kind::Label, 0, hash).word, hash);
    }
}
