//! What an agent inside a DBMS and the profiler outside share: records, and the memory they go through.
//!
//! The profiler makes one file, `shared::FILE`, in a folder, before the DBMS starts. Both map it. In it: which functions
//! may be watched (written once by the profiler), whether each could be patched (written by the agent), one byte for each
//! that says whether and how it is watched now (written by the profiler, read at every entry), and a ring of records
//! for each thread (written by the thread, read by the profiler).

pub mod layout;
pub mod mode;
pub mod record;
pub mod refusal;
pub mod shared;

pub use layout::{Header, Plan, Slot};
pub use record::{Kind, Record};
pub use refusal::Refusal;
pub use shared::Shared;
