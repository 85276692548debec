//! Where the agent does nothing, and how it says so.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod watched;

use std::fs;
use std::process::Command;

use tare_profile::agent::{Agent, Tier};
use tare_profile::backend::{Backend, Mode, Probe};
use watched::{compile, library};

#[test]
fn a_static_program_is_refused_before_it_starts() {
    let program = compile("nesting.c", &["-static"]);
    let error = Agent::create(&program.folder, Tier::Trampolines, &program.path, &[], &[], None).unwrap_err();
    assert!(error.what.contains("statically linked") && error.next_step.contains("attach"), "{error}");
    fs::remove_dir_all(program.folder).unwrap();
}

#[test]
fn programs_that_inherit_the_environment_are_left_alone_and_the_profiler_says_that_nobody_came() {
    let program = compile("nesting.c", &[]);
    let targets = program.named(&["inner", "outer"]);
    let folder = program.folder.join("rings");
    Agent::create(&folder, Tier::Trampolines, &program.path, &targets, &[], None).unwrap();
    let environment = Agent::environment(&folder, &library()).unwrap();
    let output =
        Command::new("/bin/sh").args(["-c", "echo $((6 * 7)) | cat"]).envs(environment).output().unwrap();
    assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (b"42\n".as_slice(), b"".as_slice()));
    let mut agent = Agent::open(&folder).unwrap();
    let probe = Probe { function: targets[0].id, detail: Default::default(), cpu: false, entry_only: false };
    let error = agent.set(&targets, &[probe], Mode::Timing).unwrap_err();
    assert!(error.what.contains("has loaded the agent") && error.next_step.contains("LD_PRELOAD"), "{error}");
    assert!(!agent.alive());
    fs::remove_dir_all(program.folder).unwrap();
}

#[test]
fn a_program_replaced_since_the_table_was_made_is_not_patched() {
    let program = compile("nesting.c", &[]);
    let targets = program.named(&["inner"]);
    let folder = program.folder.join("rings");
    Agent::create(&folder, Tier::Trampolines, &program.path, &targets, &[], None).unwrap();
    let newer = program.folder.join("newer");
    // By another process: had we it open for writing, a parallel test could fork it ("text file busy").
    assert!(Command::new("cp").arg(&program.path).arg(&newer).status().unwrap().success());
    fs::rename(&newer, &program.path).unwrap();
    let mut child = Command::new(&program.path)
        .envs(Agent::environment(&folder, &library()).unwrap())
        .stdin(std::process::Stdio::null())
        .spawn()
        .unwrap();
    child.wait().unwrap();
    let mut agent = Agent::open(&folder).unwrap();
    let probe = Probe { function: targets[0].id, detail: Default::default(), cpu: false, entry_only: false };
    let error = agent.set(&targets, &[probe], Mode::Timing).unwrap_err();
    assert!(error.what.contains("replaced"), "{error}");
    fs::remove_dir_all(program.folder).unwrap();
}

#[test]
fn a_stripped_cxx_program_with_its_own_unwinder_is_left_alone() {
    let flags = ["-static-libgcc", "-static-libstdc++"];
    let program = compile("exceptions.cpp", &flags);
    let targets = program.named(&["thrower"]);
    assert!(Command::new("strip").arg(&program.path).status().unwrap().success());
    let folder = program.folder.join("rings");
    Agent::create(&folder, Tier::Trampolines, &program.path, &targets, &[], None).unwrap();
    let mut child = Command::new(&program.path)
        .envs(Agent::environment(&folder, &library()).unwrap())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"\n").unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"1000 3500\n");
    let mut agent = Agent::open(&folder).unwrap();
    let probe = Probe { function: targets[0].id, detail: Default::default(), cpu: false, entry_only: false };
    let error = agent.set(&targets, &[probe], Mode::Timing).unwrap_err();
    assert!(error.what.contains("unwinder"), "{error}");
    fs::remove_dir_all(program.folder).unwrap();
}

#[test]
fn a_function_not_in_the_table_is_refused_by_name_of_the_reason() {
    let program = compile("nesting.c", &[]);
    let all = program.targets.clone();
    let mut running = program.start(&["inner"], Mode::Timing, |_, _| {});
    let outer = all.iter().find(|target| target.name == "outer").unwrap().clone();
    let inner = all.iter().find(|target| target.name == "inner").unwrap().clone();
    let probe = |function| Probe { function, detail: Default::default(), cpu: false, entry_only: false };
    let refused = running
        .agent
        .set(&[inner.clone(), outer.clone()], &[probe(inner.id), probe(outer.id)], Mode::Timing)
        .unwrap();
    assert_eq!(refused.len(), 1);
    assert!(refused[0].function == outer.id && refused[0].why.contains("not in the table"));
    assert!(Agent::open(running.rings()).unwrap_err().what.contains("another profiler"));
    running.end();
}
