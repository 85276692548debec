//! What cannot be watched, and what is said of it.

use std::os::unix::fs::PermissionsExt;

use super::*;

#[test]
fn a_function_that_the_kernel_refuses_does_not_keep_others_from_being_watched() {
    // A breakpoint of its own is what the kernel puts no probe on.
    let mut program = Program::start(
        "refused",
        r#"
__asm__(".type trapped, @function; .globl trapped; trapped: int3; ret; .size trapped, .-trapped");
extern void trapped(void);
FUNCTION void first(void) { }
FUNCTION void second(void) { }
static long work(void) { first(); second(); return (long)trapped == 0; }"#,
    );
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    let mut targets = program.targets(&["first", "trapped", "second"]);
    let nowhere = Target { id: 4, address: 0x7000_0000, ..targets[0].clone() };
    let same = Target { id: 5, name: "alias".into(), ..targets[0].clone() };
    targets.extend([nowhere, same]);
    let mut probes = probes(&targets, PLAIN);
    probes.push(Probe { function: 6, ..PLAIN });
    for _ in 0..2 {
        let mut refused = attach.set(&targets, &probes, Mode::Timing).unwrap();
        refused.sort_by_key(|refused| refused.function);
        let why: Vec<_> = refused.iter().map(|refused| (refused.function, refused.why.as_str())).collect();
        let [(2, kernel), (4, nowhere), (5, same), (6, unknown)] = why[..] else { panic!("{why:?}") };
        assert!(kernel.contains("the kernel"), "{kernel}");
        assert!(nowhere.contains("0x70000000"), "{nowhere}");
        assert!(same.contains("first is at the same address"), "{same}");
        assert!(unknown.contains("nothing says where"), "{unknown}");
        program.work();
        assert_eq!(signs(&only(attach.take().unwrap())), "+1 -1 +3 -3");
    }
    let error = attach.set(&targets[1..2], &probes[1..2], Mode::Timing).unwrap_err();
    assert!(error.what.contains("none of 1 probes"), "{error}");
}

const LEAF: &str = r"
FUNCTION void leaf(void) { }
static long work(void) { leaf(); return 0; }";

#[test]
fn c_code_in_a_program_of_go_is_refused_with_what_to_watch_instead() {
    let mut program = Program::start(
        "cgo",
        r#"
__asm__(".section .go.buildinfo, \"a\"; .byte 0; .text; .globl runtime.text, runtime.etext");
FUNCTION void called(void) { }
__asm__("runtime.text: .globl compiled; .type compiled, @function; compiled: push %rbp; pop %rbp; ret;"
        ".size compiled, .-compiled; runtime.etext:");
extern void compiled(void);
static long work(void) { called(); compiled(); return 0; }"#,
    );
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    let targets = program.targets(&["called", "compiled"]);
    let refused = attach.set(&targets, &probes(&targets, PLAIN), Mode::Timing).unwrap();
    let [refused] = &refused[..] else { panic!("{refused:?}") };
    assert!(refused.function == 1 && refused.why.contains("watch the function of Go"), "{refused:?}");
    program.work(); // and lives
}

#[test]
fn a_file_replaced_on_disk_is_not_taken_for_what_runs() {
    let mut program = Program::start("replaced", LEAF);
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    let other = compile("new", "FUNCTION void leaf(void) { }\nstatic long work(void) { return 0; }", &[]);
    std::fs::rename(&other, &program.path).unwrap();
    let mut targets = program.targets(&["leaf"]);
    let probes = probes(&targets, PLAIN);
    let error = attach.set(&targets, &probes, Mode::Timing).unwrap_err();
    assert!(error.what.contains("was replaced"), "{error}");
    assert!(error.next_step.contains(&format!("/proc/{}/exe", program.pid())), "{error}");
    targets[0].object = format!("/proc/{}/exe", program.pid()).into();
    assert_eq!(attach.set(&targets, &probes, Mode::Timing).unwrap(), []);
    program.work();
    assert_eq!(signs(&only(attach.take().unwrap())), "+1 -1");
}

#[test]
fn a_program_that_runs_with_the_agent_too_is_refused_before_anything_is_tried() {
    let program = Program::start("alike", LEAF);
    let folder = program.path.with_extension("d");
    std::fs::create_dir(&folder).unwrap();
    let library = folder.join(crate::agent::LIBRARY);
    std::fs::rename(compile("agent", LEAF, &["-shared", "-fPIC"]), &library).unwrap();
    let link = program.path.with_extension("other");
    std::fs::hard_link(&program.path, &link).unwrap();
    let other = Program::run(link, |path| {
        let mut command = Command::new(path);
        command.env("LD_PRELOAD", &library);
        command
    });
    let error = Attach::open(&[program.pid()], false).err().expect("it is refused");
    assert!(error.what.starts_with(&format!("process {} runs the same file", other.pid())), "{error}");
    assert!(error.next_step.contains("tare profile refine"), "{error}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_path_below_another_root_is_found_there() {
    let path = compile("root", LEAF, &["-static"]);
    let root = path.with_extension("d");
    std::fs::create_dir(&root).unwrap();
    let inside = root.join("program");
    std::fs::rename(&path, &inside).unwrap();
    std::fs::set_permissions(&inside, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut program = Program::run(inside, |path| {
        let mut chroot = Command::new("chroot");
        chroot.arg(path.parent().unwrap()).arg("/program");
        chroot
    });
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    let mut targets = program.targets(&["leaf"]);
    targets[0].object = "/program".into();
    assert_eq!(attach.set(&targets, &probes(&targets, PLAIN), Mode::Timing).unwrap(), []);
    program.work();
    let thread = only(attach.take().unwrap());
    assert_eq!(signs(&thread), "+1 -1");
    assert!(program.has("main", thread.records[0].detail), "not moved: {thread:x?}");
    drop(program);
    std::fs::remove_dir_all(root).unwrap();
}

/// Leaves this thread none but these capabilities.
fn keep(capabilities: &[u32]) {
    const VERSION: u32 = 0x2008_0522;
    let bits = capabilities.iter().fold(0u64, |bits, capability| bits | 1 << capability);
    let (low, high) = (bits as u32, (bits >> 32) as u32);
    let header = [VERSION, 0];
    let sets = [low, low, 0, high, high, 0];
    // SAFETY: a header and two sets, as this version wants them; it concerns this thread only.
    assert_eq!(unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), sets.as_ptr()) }, 0);
}

#[test]
fn without_privilege_it_says_what_would_do_and_that_does() {
    const SYS_PTRACE: u32 = 19;
    const PERFMON: u32 = 38;
    const BPF: u32 = 39;
    let mut program = Program::start("privilege", LEAF);
    if watch(&[program.pid()], true).is_none() {
        return;
    }
    let pid = program.pid();
    let error = std::thread::spawn(move || {
        keep(&[]);
        Attach::open(&[pid], true).err().expect("without privilege it is refused")
    });
    let error = error.join().unwrap();
    assert!(error.next_step.contains("CAP_BPF") && refused(error.errno), "{error}");
    let targets = program.targets(&["leaf"]);
    let attach = std::thread::spawn(move || {
        keep(&[SYS_PTRACE, PERFMON, BPF]);
        let mut attach = Attach::open(&[pid], true).unwrap();
        attach.set(&targets, &probes(&targets, PLAIN), Mode::Timing).unwrap();
        attach
    });
    let mut attach = attach.join().unwrap();
    program.work();
    assert_eq!(signs(&only(attach.take().unwrap())), "+1 -1");
}
