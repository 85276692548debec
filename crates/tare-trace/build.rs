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
    for name in ["audit", "os"] {
        let mut builder = libbpf_cargo::SkeletonBuilder::new();
        builder
            .source(format!("src/bpf/{name}.bpf.c"))
            .obj(out.join(format!("{name}.bpf.o")))
            .clang_args(["-mcpu=v3", "-Wall", "-Werror", "-I", &libbpf, "-I", &kernel]);
        if let Err(error) = builder.build() {
            panic!("the BPF program {name} does not compile (is clang installed?): {error:?}");
        }
    }
    println!("cargo::rerun-if-changed=src/bpf");
    for header in ["kernel.h", "switching.h"] {
        println!("cargo::rerun-if-changed={kernel}/{header}");
    }
}
