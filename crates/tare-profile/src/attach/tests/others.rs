//! Who is recorded: children as they come, and nobody else.

use super::*;

const FORKING: &str = r"
FUNCTION void leaf(void) { }
static long work(void)
{
	pid_t child;

	leaf();
	child = fork();
	if (!child) {
		leaf();
		if (!fork()) {
			leaf();
			_exit(0);
		}
		wait(NULL);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return child;
}";

#[test]
fn children_and_theirs_are_recorded_with_their_sites_though_they_are_gone() {
    let mut program = Program::start("forking", FORKING);
    let Some(mut attach) = watch(&[program.pid()], true) else { return };
    time(&mut attach, &program, &["leaf"]);
    let child = program.work() as i32;
    let taken = attach.take().unwrap();
    let pids: Vec<i32> = taken.threads.iter().map(|thread| thread.pid).collect();
    assert_eq!(pids[..2], [program.pid(), child]);
    assert_eq!(pids.len(), 3);
    for thread in &taken.threads {
        assert_eq!(signs(thread), "+1 -1");
        assert!(program.has("main", thread.records[0].detail), "{thread:x?}");
    }
}

#[test]
fn children_are_not_recorded_unless_asked_for() {
    let mut program = Program::start("alone", FORKING);
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    time(&mut attach, &program, &["leaf"]);
    program.work();
    assert_eq!(only(attach.take().unwrap()).pid, program.pid());
}

#[test]
fn a_child_born_before_is_followed_too() {
    let mut program = Program::start(
        "before",
        r"
FUNCTION void leaf(void) { }
static int to[2], from[2];
static long work(void)
{
	char byte;

	if (!to[1]) {
		if (pipe(to) || pipe(from)) return -1;
		if (!fork()) {
			close(to[1]);
			while (read(to[0], &byte, 1) == 1) {
				leaf();
				if (write(from[1], &byte, 1) != 1) break;
			}
			_exit(0);
		}
		close(to[0]);
	}
	return write(to[1], &byte, 1) == 1 && read(from[0], &byte, 1) == 1;
}",
    );
    let Some(mut attach) = watch(&[program.pid()], true) else { return };
    time(&mut attach, &program, &["leaf"]);
    assert_eq!(program.work(), 1);
    let thread = only(attach.take().unwrap());
    assert_ne!(thread.pid, program.pid());
    assert_eq!(signs(&thread), "+1 -1");
}

const LEAF: &str = r"
FUNCTION void leaf(void) { }
static long work(void) { leaf(); return 0; }";

#[test]
fn another_process_of_the_same_file_is_not_recorded() {
    let mut program = Program::start("same", LEAF);
    let link = program.path.with_extension("other");
    std::fs::hard_link(&program.path, &link).unwrap();
    let mut other = Program::run(link, |path| Command::new(path));
    for follow_children in [false, true] {
        let clean = other.text("leaf");
        let Some(mut attach) = watch(&[program.pid()], follow_children) else { return };
        time(&mut attach, &program, &["leaf"]);
        other.work();
        program.work();
        assert_eq!(only(attach.take().unwrap()).pid, program.pid());
        assert_ne!(program.text("leaf"), clean);
        // Where it can the kernel leaves others alone; where it cannot, that is said.
        assert_eq!(other.text("leaf") == clean, !follow_children);
        assert_eq!(attach.says().contains("are slowed"), follow_children);
    }
}

#[test]
fn what_is_set_last_is_what_is_on() {
    let mut program = Program::start(
        "set",
        r"
FUNCTION void first(void) { }
FUNCTION void second(void) { }
static long work(void) { first(); second(); return 0; }",
    );
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    let targets = program.targets(&["first", "second"]);
    for (on, expected) in [(0..2, "+1 -1 +2 -2"), (1..2, "+2 -2"), (0..1, "+1 -1")] {
        attach.set(&targets, &probes(&targets[on], PLAIN), Mode::Timing).unwrap();
        program.work();
        assert_eq!(signs(&only(attach.take().unwrap())), expected);
    }
    attach.set(&targets, &[], Mode::Timing).unwrap();
    program.work();
    assert_eq!(attach.take().unwrap().threads, []);
}

#[test]
fn a_watched_process_that_ends_is_noticed() {
    let mut program = Program::start("ends", LEAF);
    let Some(mut attach) = watch(&[program.pid()], true) else { return };
    time(&mut attach, &program, &["leaf"]);
    program.work();
    assert!(attach.alive());
    program.child.kill().unwrap();
    program.child.wait().unwrap();
    assert!(!attach.alive());
    assert_eq!(signs(&only(attach.take().unwrap())), "+1 -1");
    assert_eq!(attach.watched.list(), Vec::<i32>::new());
}

#[test]
fn a_named_process_comes_first_whatever_its_number() {
    let program = Program::start("first", LEAF);
    let Some(attach) = watch(&[program.pid()], true) else { return };
    attach.watched.enlist(&[1], false);
    assert_eq!(attach.watched_pids(), [program.pid(), 1]);
}
