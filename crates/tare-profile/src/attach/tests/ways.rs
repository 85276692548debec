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
    assert_eq!(attach.stepped(&targets), [(1, 2), (2, 1)]);
    const CHANGES_STACK: &str = r#"
#include <ucontext.h>
FUNCTION int other(ucontext_t *to) { return setcontext(to); }
FUNCTION int prints(int x) { puts("x"); return x + 1; }
static long work(void) { return 1; }
int unused(ucontext_t *to) { return other(to) + prints(3); }"#;
    let program = Program::start("exits", CHANGES_STACK);
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    let targets = program.targets(&["prints"]);
    assert_eq!(attach.stepped(&targets), [(1, 1)]); // the ret at which it leaves
}
