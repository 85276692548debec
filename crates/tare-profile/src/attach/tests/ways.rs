//! What the ways cost in which functions are entered and left.

use super::*;

#[test]
fn functions_whose_calls_the_kernel_steps_over_are_told() {
    const SOURCE: &str = r"
FUNCTION int leaf(int x) { return x * 3; }
FUNCTION void empty(void) { }
FUNCTION int saves(int x) { int y = leaf(x); return leaf(y) + x; }
static long work(void) { empty(); return saves(leaf(3)); }";
    let program =
        Program::run(compile("stepped", SOURCE, &["-fcf-protection=none"]), |path| Command::new(path));
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    let targets = program.targets(&["empty", "saves"]);
    // The one begins with its ret, the other leaves by one behind a call.
    assert_eq!(attach.stepped(&targets), [stepped(1, true, true), stepped(2, false, true)]);
    const CHANGES_STACK: &str = r#"
#include <ucontext.h>
FUNCTION int other(ucontext_t *to) { return setcontext(to); }
FUNCTION int prints(int x) { puts("x"); return x + 1; }
static long work(void) { return 1; }
int unused(ucontext_t *to) { return other(to) + prints(3); }"#;
    let program = Program::start("exits", CHANGES_STACK);
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    let targets = program.targets(&["prints"]);
    assert_eq!(attach.stepped(&targets), [stepped(1, false, true)]); // the ret at which it leaves
}

fn stepped(function: u32, entered: bool, left: bool) -> Stepped {
    Stepped { function, entered, left }
}

#[test]
fn entries_are_counted_where_the_kernel_emulates_an_instruction() {
    const SOURCE: &str = r#"
__asm__(".text; .type branches, @function;"
        "branches: test %rdi, %rdi; je 1f; lea 1(%rdi), %rax; ret; 1: xor %eax, %eax; ret;"
        ".size branches, . - branches");
long branches(long);
static long work(void) { return branches(0) + branches(3); }"#;
    let mut program = Program::start("branches", SOURCE);
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    let targets = program.targets(&["branches"]);
    let clean = program.text("branches");
    attach.set(&targets, &[Probe { function: 1, entry_only: true, ..PLAIN }], Mode::Counting).unwrap();
    let probed = program.text("branches");
    assert_eq!((probed[..3] == clean[..3], probed[3]), (true, 0xcc), "the je behind test: {probed:x?}");
    assert_eq!(program.work(), 4);
    assert_eq!(attach.calls().unwrap(), [(1, 2)]);
}
