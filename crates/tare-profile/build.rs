//! Compiles the BPF programs where the feature asks for them; the headers are tare-probe's.

#[cfg(not(feature = "bpf"))]
fn main() {}

#[cfg(feature = "bpf")]
fn main() {
    use std::env;
    use std::path::PathBuf;

    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let libbpf = env::var("DEP_TARE_PROBE_LIBBPF").expect("tare-probe says where libbpf's headers are");
    let kernel = env::var("DEP_TARE_PROBE_KERNEL").expect("tare-probe says where its BPF headers are");
    let mut builder = libbpf_cargo::SkeletonBuilder::new();
    builder
        .source("src/bpf/attach.bpf.c")
        .obj(out.join("attach.bpf.o"))
        .clang_args(["-mcpu=v3", "-Wall", "-Werror", "-I", &libbpf, "-I", &kernel]);
    if let Err(error) = builder.build() {
        panic!("the BPF program attach does not compile (is clang installed?): {error:?}");
    }
    println!("cargo::rerun-if-changed=src/bpf");
    println!("cargo::rerun-if-changed={kernel}/kernel.h");
}
