//! By which way a function's exits are seen.

use super::super::plan::Plan;
use super::super::tier::Purpose;
use super::*;

/// What probes are planned on `leaf`, of which it is known that it `only_returns` or not.
fn planned(program: &Program, only_returns: bool, hazards: &[Hazard]) -> Vec<Purpose> {
    let mut targets = program.targets(&["leaf"]);
    targets[0].only_returns = only_returns;
    let plan =
        Plan::make(&targets, &probes(&targets, PLAIN), Mode::Timing, &[program.pid()], hazards, |_, _| None);
    assert_eq!(plan.refused, []);
    plan.batches.into_keys().map(|(_, purpose)| purpose).collect()
}

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
    assert_eq!(attach.stepped(&targets), [1]); // its first instruction is its ret
    const CHANGES_STACK: &str = r#"
#include <ucontext.h>
FUNCTION int other(ucontext_t *to) { return setcontext(to); }
FUNCTION int prints(int x) { puts("x"); return x + 1; }
static long work(void) { return 1; }
int unused(ucontext_t *to) { return other(to) + prints(3); }"#;
    let program = Program::start("exits", CHANGES_STACK);
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    let targets = program.targets(&["prints"]);
    assert_eq!(attach.stepped(&targets), [1]); // the ret at which it leaves
}

#[test]
fn a_return_address_is_replaced_where_nothing_can_pass_it_alone() {
    let program = Program::start(
        "ways",
        r#"
FUNCTION void leaf(void) { }
__asm__(".globl runtime.text, runtime.etext; runtime.text = leaf; runtime.etext = leaf + 1");
static long work(void) { leaf(); return 0; }"#,
    );
    let by_exits = |only_returns, hazards: &[Hazard]| {
        let purposes = planned(&program, only_returns, hazards);
        match purposes.as_slice() {
            [Purpose::Call] => false,
            _ => purposes.contains(&Purpose::Entry) && purposes.contains(&Purpose::Exit),
        }
    };
    assert!(!by_exits(false, &[]));
    for hazard in [Hazard::Exceptions, Hazard::ThreadExit] {
        assert!(by_exits(false, &[hazard]));
        assert!(!by_exits(true, &[hazard]));
        assert!(by_exits(true, &[hazard, Hazard::Unknown]));
    }
    for hazard in [
        Hazard::AsyncExit,
        Hazard::Coroutines,
        Hazard::SignalStack,
        Hazard::Go,
        Hazard::Seccomp,
        Hazard::Unknown,
    ] {
        assert!(by_exits(true, &[hazard]));
    }
}

#[test]
fn no_probe_is_on_an_instruction_that_the_kernel_takes_for_another() {
    let program = Program::run(
        compile(
            "vectors",
            r#"
__attribute__((naked)) FUNCTION long bits(double x) { __asm__("vmovq %xmm0, %rax\nret"); }
FUNCTION long sees(double x) { return bits(x) + 1; }
static long work(void) { return sees(1.5) == 0x3ff8000000000001; }"#,
            &[],
        ),
        |path| Command::new(path),
    );
    let targets = program.targets(&["bits", "sees"]);
    for mode in [Mode::Timing, Mode::Counting] {
        let plan = Plan::make(&targets, &probes(&targets, PLAIN), mode, &[program.pid()], &[], |_, _| None);
        assert_eq!(plan.refused.len(), 1);
        assert_eq!(plan.refused[0].function, targets[0].id);
        assert!(plan.refused[0].why.contains("one of vectors"));
    }
}
