//! Entries and exits in their order, in every shape that calls have.

use super::*;

const NESTED: &str = r#"
FUNCTION void leaf(void) { }
FUNCTION void middle(void) { leaf(); leaf(); __asm__(""); }
FUNCTION void outer(void) { middle(); leaf(); middle(); __asm__(""); }
static long work(void) { outer(); return 0; }
"#;
const AS_NESTED: &str = "+1 +2 +3 -3 +3 -3 -2 +3 -3 +2 +3 -3 +3 -3 -2 -1";

#[test]
fn nested_calls_come_in_their_order_and_from_their_sites() {
    let mut program = Program::start("nested", NESTED);
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    time(&mut attach, &program, &["outer", "middle", "leaf"]);
    assert_eq!(attach.watching().iter().map(|(_, functions)| functions).sum::<usize>(), 3);
    let before = attach.clock().0;
    program.work();
    let thread = only(attach.take().unwrap());
    assert_eq!((thread.pid, thread.tid), (program.pid(), program.pid()));
    assert_eq!(signs(&thread), AS_NESTED);
    let times: Vec<u64> = thread.records.iter().map(|record| record.time).collect();
    assert!(times.is_sorted() && times[0] > before && times[15] < attach.clock().0, "{before} {times:?}");
    let mut callers = vec!["work"];
    for record in &thread.records {
        if record.kind() == Some(Kind::Exit) {
            callers.pop();
            continue;
        }
        let caller = callers.last().unwrap();
        // `work` is part of main by now.
        let caller = if *caller == "work" { "main" } else { caller };
        assert!(program.has(caller, record.detail), "{caller} {record:x?}");
        callers.push(["outer", "middle", "leaf"][record.subject() as usize - 1]);
    }
}

#[test]
fn every_tier_tells_the_same() {
    let mut program = Program::start("tiers", NESTED);
    for tier in Tier::ALL {
        let Some(mut attach) = allowed(Attach::with(&[program.pid()], false, 1 << 12, &[tier])) else {
            return;
        };
        assert!(attach.says().contains(tier.says()));
        time(&mut attach, &program, &["outer", "middle", "leaf"]);
        program.work();
        assert_eq!(signs(&only(attach.take().unwrap())), AS_NESTED, "{tier:?}");
        let targets = program.targets(&["outer", "middle", "leaf"]);
        let entries = probes(&targets, Probe { entry_only: true, ..PLAIN });
        attach.set(&targets, &entries, Mode::Timing).unwrap();
        program.work();
        assert_eq!(signs(&only(attach.take().unwrap())), "+1 +2 +3 +3 +3 +2 +3 +3", "{tier:?}");
        attach.set(&targets, &entries, Mode::Counting).unwrap();
        program.work();
        assert_eq!(attach.calls().unwrap(), [(1, 1), (2, 2), (3, 5)], "{tier:?}");
    }
}

#[test]
fn each_thread_has_its_own_stream() {
    let mut program = Program::start(
        "threads",
        r"
FUNCTION void leaf(void) { }
static void *thread(void *none) { for (int i = 0; i < 1000; i++) leaf(); return none; }
static long work(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, thread, NULL);
	for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
	return 0;
}",
    );
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    time(&mut attach, &program, &["leaf"]);
    program.work();
    let taken = attach.take().unwrap();
    assert_eq!(taken.threads.len(), 4);
    for thread in &taken.threads {
        assert_eq!(signs(thread), vec!["+1 -1"; 1000].join(" "));
        assert!(thread.pid == program.pid() && thread.tid != program.pid());
    }
}

#[test]
fn a_tail_call_is_the_exit_of_the_function_that_makes_it() {
    let mut program = Program::start(
        "tail",
        r"
FUNCTION int second(int n) { return n + 1; }
FUNCTION int first(int n) { return second(n * 2); }
static long work(void) { return first(3); }",
    );
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    time(&mut attach, &program, &["first", "second"]);
    assert!(
        attach.says().contains("makes 1 of them dearer"),
        "one enters and leaves by a jump: {}",
        attach.says()
    );
    assert_eq!(program.work(), 7);
    let thread = only(attach.take().unwrap());
    assert_eq!(signs(&thread), "+1 -1 +2 -2");
    let [first, _, second, _] = &thread.records[..] else { panic!() };
    assert_eq!(first.detail, second.detail, "it returns where the other was called");
}

#[test]
fn behind_the_mark_of_a_beginning_a_probe_tells_the_same_and_is_cheaper() {
    let source = r#"
FUNCTION long inner(long n) { return n; }
FUNCTION long outer(long n) { long m = inner(n + 1); __asm__(""); return m + n; }
static long work(void) { return outer(3); }"#;
    let path = compile("mark", source, &["-fcf-protection=full"]);
    let mut program = Program::run(path, |path| Command::new(path));
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    let targets = program.targets(&["outer"]);
    let clean = program.text("outer");
    let probe = Probe { function: 1, detail: Detail::Word(0), ..PLAIN };
    attach.set(&targets, &[probe], Mode::Timing).unwrap();
    let probed = program.text("outer");
    assert_eq!((probed[..4] == clean[..4], probed[4]), (true, 0xcc), "{probed:x?}");
    let stepped = Stepped { function: 1, entered: false, left: true };
    assert_eq!(attach.stepped(&targets), [stepped]);
    assert_eq!(program.work(), 7);
    let thread = only(attach.take().unwrap());
    assert_eq!((signs(&thread).as_str(), thread.records[0].detail), ("+1 -1", 3));
    time(&mut attach, &program, &["outer", "inner"]);
    program.work();
    let thread = only(attach.take().unwrap());
    assert_eq!(signs(&thread), "+1 +2 -2 -1");
    assert!(program.has("main", thread.records[0].detail) && program.has("outer", thread.records[1].detail));
}

#[test]
fn recursion_nests_however_deep() {
    let mut program = Program::start(
        "recursion",
        r#"
static int deep = 10;
FUNCTION int down(int n) { int below = n ? down(n - 1) : 0; __asm__ volatile("" : "+r"(below)); return below + 1; }
static long work(void) { int all = down(deep - 1); deep = 100; return all; }"#,
    );
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    time(&mut attach, &program, &["down"]);
    // Once it has worked already: it goes 100 deep.
    assert_eq!(program.work(), 100);
    let thread = only(attach.take().unwrap());
    assert_eq!(signs(&thread), [vec!["+1"; 100], vec!["-1"; 100]].concat().join(" "));
}

#[test]
fn frames_left_by_longjmp_are_cut_and_do_no_harm() {
    let mut program = Program::start(
        "longjmp",
        r"
static jmp_buf back;
FUNCTION void inner(int n) { if (n >= 0) longjmp(back, 1); }
FUNCTION void outer(void) { if (!setjmp(back)) inner(1); }
static long work(void) { for (int i = 0; i < 1000; i++) outer(); return 0; }",
    );
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    time(&mut attach, &program, &["outer", "inner"]);
    program.work();
    assert_eq!(signs(&only(attach.take().unwrap())), vec!["+1 +2 cut 2 -1"; 1000].join(" "));
}

#[test]
fn records_that_found_no_room_are_told_in_their_thread() {
    const CALLS: u64 = 5000;
    const ROOM: u32 = 64;
    let mut program = Program::start(
        "lost",
        r"
FUNCTION void leaf(void) { }
static long work(void) { for (int i = 0; i < 5000; i++) leaf(); return 0; }",
    );
    program.stay_on_one_cpu();
    let Some(mut attach) = allowed(Attach::with(
        &[program.pid()],
        false,
        ROOM * num_possible_cpus().unwrap() as u32,
        &Tier::ALL,
    )) else {
        return;
    };
    time(&mut attach, &program, &["leaf"]);
    program.work();
    let first = only(attach.take().unwrap());
    program.work();
    attach.finish().unwrap();
    let second = only(Taken { lost: 0, ..attach.take().unwrap() });
    let count = |thread: &ThreadRecords, kind| {
        thread.records.iter().filter(|record| record.kind() == Some(kind)).count() as u64
    };
    let room = count(&first, Kind::Enter) + count(&first, Kind::Exit);
    assert_eq!(room, u64::from(ROOM));
    assert_eq!(count(&first, Kind::Lost), 0, "nothing of the thread came after the loss");
    // The first record that finds room says what was lost, and the last ones are told of at the end.
    let lost: Vec<_> = second.records.iter().filter(|r| r.kind() == Some(Kind::Lost)).collect();
    assert_eq!(second.records[0].kind(), Some(Kind::Lost), "{}", signs(&second));
    assert_eq!(second.records.last().unwrap().kind(), Some(Kind::Lost), "{}", signs(&second));
    let lost: u64 = lost.iter().map(|record| u64::from(record.detail)).sum();
    let kept = room + count(&second, Kind::Enter) + count(&second, Kind::Exit);
    assert_eq!(kept + lost, 2 * 2 * CALLS);
}
