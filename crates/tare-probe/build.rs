//! Compiles the BPF programs where the feature asks for them.

#[cfg(not(feature = "bpf"))]
fn main() {}

#[cfg(feature = "bpf")]
fn main() {
    use std::path::PathBuf;
    use std::{env, fs};

    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let include = out.join("include");
    fs::create_dir_all(include.join("bpf")).expect("OUT_DIR is writable");
    for (name, text) in libbpf_rs::libbpf_sys::API_HEADERS.iter() {
        fs::write(include.join("bpf").join(name), text).expect("OUT_DIR is writable");
    }
    for name in ["tasks", "exits", "follow"] {
        let mut builder = libbpf_cargo::SkeletonBuilder::new();
        builder
            .source(format!("src/bpf/{name}.bpf.c"))
            .obj(out.join(format!("{name}.bpf.o")))
            // Version 3 has the atomic compare-and-swap that the first look needs.
            .clang_args(["-mcpu=v3", "-Wall", "-Werror", "-I", include.to_str().expect("OUT_DIR is UTF-8")]);
        if let Err(error) = builder.build() {
            panic!("the BPF program {name} does not compile (is clang installed?): {error:?}");
        }
    }
    println!("cargo::rerun-if-changed=src/bpf");
    // For crates with BPF programs of their own: where these headers are.
    println!("cargo::metadata=libbpf={}", include.display());
    println!("cargo::metadata=kernel={}/src/bpf", env!("CARGO_MANIFEST_DIR"));
}
