//! Marks reach an agent where one is loaded, and nobody otherwise: from Rust, C and C++, however they are linked.

use std::path::{Path, PathBuf};
use std::process::Command;

const TOLD: &str = "4 1 -\n8 1 payment\n5 1 -\n6 1 -\n7 1 -\n4 1152921504606846975 -\n";

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// A file built from one of ours. `None`, said loudly, where there is no such compiler.
fn built(compiler: &str, flags: &[&str], source: &str, name: &str) -> Option<PathBuf> {
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let include = here("../../include");
    let mut command = Command::new(compiler);
    command.args(["-Wall", "-Wextra", "-Werror"]).args(flags).arg("-I").arg(include).arg(here(source));
    let Ok(done) = command.arg("-o").arg(&to).output() else {
        eprintln!("SKIPPED: there is no {compiler} to build {source} with");
        return None;
    };
    assert!(done.status.success(), "{compiler} {flags:?}: {}", String::from_utf8_lossy(&done.stderr));
    Some(to)
}

fn said(program: &Path, agent: Option<&Path>) -> String {
    let mut command = Command::new(program);
    if let Some(agent) = agent {
        command.env("LD_PRELOAD", agent);
    }
    let done = command.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn agent(name: &str) -> Option<PathBuf> {
    built("cc", &["-shared", "-fPIC"], "tests/agent.c", name)
}

#[test]
fn a_rust_program_s_marks_reach_the_agent() {
    let Some(agent) = agent("agent-rust.so") else { return };
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().unwrap().with_file_name("examples").join("marked");
    assert_eq!(said(&program, Some(&agent)), TOLD);
    assert_eq!(said(&program, None), "");
}

#[test]
fn marks_of_c_and_cpp_reach_the_agent_however_they_are_linked() {
    let Some(agent) = agent("agent-c.so") else { return };
    let languages = [("cc", "c"), ("clang", "c"), ("c++", "c++")];
    let links: [&[&str]; 3] =
        [&["-O2", "-fPIE", "-pie"], &["-O2", "-fno-pie", "-no-pie"], &["-O0", "-fno-pie", "-no-pie"]];
    for (compiler, language) in languages {
        for (number, link) in links.iter().enumerate() {
            let flags = [&["-x", language][..], link].concat();
            let Some(program) = built(compiler, &flags, "tests/marked.c", &format!("{compiler}-{number}"))
            else {
                break;
            };
            assert_eq!(said(&program, Some(&agent)), TOLD, "{compiler} {flags:?}");
            assert_eq!(said(&program, None), "", "{compiler} {flags:?}");
        }
    }
}

#[test]
fn a_static_program_s_marks_reach_nobody() {
    if let Some(program) = built("cc", &["-O2", "-static"], "tests/marked.c", "static") {
        assert_eq!(said(&program, None), "");
    }
}
