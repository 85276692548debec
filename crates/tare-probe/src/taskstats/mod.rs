//! taskstats: the kernel's accounting over generic netlink, for tasks that live and tasks that end.

pub mod decode;
pub mod listen;
pub(crate) mod netlink;
pub mod query;
