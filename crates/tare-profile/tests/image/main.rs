//! Binaries read: small programs whose calls are known, servers as distributions ship them, and files that are no use.

mod compiled;
mod damaged;
mod indirect;
mod programs;
mod refusals;
mod running;
mod servers;
mod stripped;
