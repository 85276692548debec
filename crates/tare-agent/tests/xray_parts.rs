//! Parts of the sleds' handler by themselves: the library that they belong to is one that is preloaded, not linked with.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]
#![allow(dead_code)] // what is used is used in the library

#[path = "../src/xray/symbols.rs"]
mod symbols;
