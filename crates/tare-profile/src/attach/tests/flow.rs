//! Functions whose ways out are hard to find, as compilers and people write them.

use super::*;

#[test]
fn data_in_the_midst_of_a_function_is_not_touched_and_the_function_is_refused() {
    let mut program = Program::start(
        "data",
        r#"
__asm__(".type summed, @function; .globl summed; summed: lea 1f(%rip), %rdx; xor %eax, %eax; xor %ecx, %ecx; jmp 2f;"
        "1: .byte 0xc3, 0xe9, 0xc3, 0x0b, 0xc3, 7, 0xc3, 0xeb;"
        "2: movzbl (%rdx,%rcx), %esi; add %esi, %eax; inc %ecx; cmp $8, %ecx; jne 2b; ret; .size summed, .-summed");
extern int summed(void);
FUNCTION int other(void) { return 1; }
static long work(void) { return summed() + other(); }"#,
    );
    let sum = program.work();
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    let targets = program.targets(&["summed", "other"]);
    let refused = attach.set(&targets, &probes(&targets, PLAIN), Mode::Timing).unwrap();
    let [refused] = &refused[..] else { panic!("{refused:?}") };
    assert!(refused.function == 1 && refused.why.contains("may be data"), "{refused:?}");
    assert_eq!(program.work(), sum);
    assert_eq!(signs(&only(attach.take().unwrap())), "+2 -2");
    // Entered it can be: that is one place, and known.
    let entries = probes(&targets, Probe { entry_only: true, ..PLAIN });
    assert_eq!(attach.set(&targets, &entries, Mode::Timing).unwrap(), []);
    assert_eq!(program.work(), sum);
}

#[test]
fn switches_leave_where_they_return_whichever_case_is_taken() {
    for flags in [&["-O2"][..], &["-O0"], &["-O2", "-fno-pic", "-no-pie"], &["-O2", "-fcf-protection=full"]] {
        let source = r"
FUNCTION long called(long x) { return x + 1; }
FUNCTION long chosen(long n, long x)
{
	switch (n) {
	case 0: return called(x) * 3;
	case 1: x += called(x + 1);
	case 2: return called(x) / 7;
	case 3: called(x); called(3); return x ^ 0x55;
	case 4: x = called(x) * called(x);
	case 5: return x - called(x + 4);
	case 6: return called(x * x) & 3;
	case 7: return 8;
	default: return -1;
	}
}
FUNCTION long labelled(long n, long x)
{
	static void *const labels[] = { &&one, &&two, &&three, &&end };
	int at = 0;

	for (;;) {
		goto *labels[(n + at++) & 3];
one:		x = called(x);
		continue;
two:		x *= 3;
		continue;
three:		x -= called(x);
		continue;
end:		return x;
	}
}
static long work(void)
{
	long sum = 0;

	for (long n = 0; n < 10; n++) sum += chosen(n, n) + labelled(n, n);
	return sum;
}";
        let mut program = Program::run(compile("switch", source, flags), |path| Command::new(path));
        let sum = program.work();
        let Some(mut attach) = watch(&[program.pid()], false) else { return };
        time(&mut attach, &program, &["chosen", "labelled"]);
        assert_eq!(program.work(), sum);
        assert_eq!(signs(&only(attach.take().unwrap())), ["+1 -1 +2 -2"; 10].join(" "), "{flags:?}");
    }
}

#[test]
fn a_cold_part_that_comes_back_is_no_exit_and_one_that_returns_is() {
    let source = r"
__attribute__((noipa, cold)) long repair(long x) { return x + 1; }
FUNCTION long comes_back(long x) { if (__builtin_expect(x & 1, 0)) x = repair(x) * 5; return x + 3; }
static long work(void) { return comes_back(1) + comes_back(2); }";
    let mut program = Program::run(compile("cold", source, &[]), |path| Command::new(path));
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    let mut targets = program.targets(&["comes_back"]);
    let part = program.symbols.get("comes_back.cold").expect("the compiler moves the call out");
    targets[0].parts = vec![*part];
    assert_eq!(attach.set(&targets, &probes(&targets, PLAIN), Mode::Timing).unwrap(), []);
    assert_eq!(program.work(), 13 + 5);
    let thread = only(attach.take().unwrap());
    assert_eq!(signs(&thread), "+1 -1 +1 -1");
}

#[test]
fn an_entry_and_an_exit_at_one_jump_come_in_this_order() {
    let source = r"
FUNCTION long called(long x) { return x + 1; }
FUNCTION long early(long x) { if (x) return 7; return called(called(x)) + 1; }
static long work(void) { return early(1) + early(0) + early(2); }";
    let mut program = Program::run(compile("early", source, &[]), |path| Command::new(path));
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    time(&mut attach, &program, &["early"]);
    assert_eq!(program.work(), 7 + 3 + 7);
    assert_eq!(signs(&only(attach.take().unwrap())), "+1 -1 +1 -1 +1 -1");
}

#[test]
fn text_that_a_process_has_for_itself_is_refused() {
    // It writes another instruction in the place of the file's.
    let source = r#"
#include <sys/mman.h>
__attribute__((noipa, aligned(4096))) long own(long x) { return x * 3 + 1; }
__attribute__((noipa, aligned(4096))) long filed(long x) { return x * 5; }
static long work(void)
{
	static int done;

	if (!done++) {
		mprotect((void *)own, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
		*(char *)own = 0x90;
		mprotect((void *)own, 4096, PROT_READ | PROT_EXEC);
	}
	return filed(2);
}"#;
    let mut program = Program::run(compile("own", source, &[]), |path| Command::new(path));
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    let targets = program.targets(&["own", "filed"]);
    let refused = attach.set(&targets, &probes(&targets, PLAIN), Mode::Timing).unwrap();
    let why: Vec<_> = refused.iter().map(|refused| (refused.function, refused.why.as_str())).collect();
    assert!(matches!(why[..], [(1, why)] if why.contains("text of its own")), "{why:?}");
    assert_eq!(program.work(), 10);
    assert_eq!(signs(&only(attach.take().unwrap())), "+2 -2");
}
