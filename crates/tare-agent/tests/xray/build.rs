//! The watched program, by a clang that has XRay.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const CLANGS: [&str; 7] = ["clang-19", "clang-18", "clang-17", "clang-16", "clang-20", "clang-21", "clang"];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/xray/program.c")
}

fn built(compiler: &str, flags: &[&str], name: &str) -> Result<PathBuf, String> {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let done = Command::new(compiler)
        .args(["-std=gnu11", "-O2", concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../../include")])
        .args(flags)
        .arg(source())
        .arg("-o")
        .arg(&place)
        .output();
    match done {
        Ok(done) if done.status.success() => Ok(place),
        Ok(done) => Err(format!("{compiler}: {}", String::from_utf8_lossy(&done.stderr))),
        Err(why) => Err(format!("{compiler}: {why}")),
    }
}

/// Made once; `None`, said on stderr, where no compiler here can.
pub fn with_sleds() -> Option<PathBuf> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    BUILT
        .get_or_init(|| {
            let flags = ["-fxray-instrument", "-fxray-instruction-threshold=1"];
            let mut why = Vec::new();
            for compiler in CLANGS {
                match built(compiler, &flags, "xray-program") {
                    Ok(place) => return Some(place),
                    Err(error) => why.push(error),
                }
            }
            eprintln!(
                "SKIPPED: no clang here builds for XRay; apt install clang-19 libclang-rt-19-dev\n{}",
                why.join("\n")
            );
            None
        })
        .clone()
}

/// The same without.
pub fn without_sleds() -> PathBuf {
    built("cc", &[], "xray-program-plain").expect("a C compiler")
}
