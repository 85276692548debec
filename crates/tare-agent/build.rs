//! Compiles what runs at a function's entry and exit, which may use general registers only.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=src/hot");
    let target = |what: &str| env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("ARCH") != "x86_64" || target("OS") != "linux" {
        return;
    }
    cc::Build::new()
        .file("src/hot/hot.c")
        .file("src/hot/entry.S")
        .std("gnu11")
        .opt_level(2)
        .flag("-mgeneral-regs-only")
        .flag("-ffreestanding")
        .flag("-fno-stack-protector")
        .flag("-fcf-protection=none")
        .flag("-fomit-frame-pointer")
        .flag("-fvisibility=hidden")
        .flag("-ftls-model=initial-exec")
        .flag_if_supported("-fno-tree-loop-distribute-patterns")
        .flag_if_supported("-fno-instrument-functions")
        .warnings_into_errors(true)
        .compile("tare_hot");
}
