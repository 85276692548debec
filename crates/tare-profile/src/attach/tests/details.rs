//! What entries tell besides: arguments, texts, CPU time, marks, counts.

use tare_rings::record::{TEXT_BYTES, text_hash};

use super::*;

#[test]
fn an_entry_tells_the_argument_that_is_asked_for() {
    let mut program = Program::start(
        "word",
        r"
FUNCTION void six(long a, int b, int c, int d, int e, unsigned f) { }
static long work(void) { six(0x1234567890L, -2, 3, 4, 5, 6); return 0; }",
    );
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    let targets = program.targets(&["six"]);
    for (number, argument) in [0x3456_7890, -2i32 as u32, 3, 4, 5, 6].into_iter().enumerate() {
        let probe = Probe { function: 1, detail: Detail::Word(number as u8), ..PLAIN };
        attach.set(&targets, &[probe], Mode::Timing).unwrap();
        program.work();
        let thread = only(attach.take().unwrap());
        assert_eq!(signs(&thread), "+1 -1");
        assert_eq!(thread.records[0].detail, argument, "argument {number}");
    }
}

const REPORT: &str = r#"
FUNCTION void report(int state, const char *text) { }
static char longest[200];
static long work(void)
{
	memset(longest, 'x', sizeof(longest) - 1);
	report(0x23, "SELECT 1");
	report(4, NULL);
	report(5, "");
	report(6, longest);
	report(7, "SELECT 1");
	return 0;
}"#;

#[test]
fn a_text_is_told_by_its_hash_and_handed_over_once() {
    let mut program = Program::start("text", REPORT);
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    let targets = program.targets(&["report"]);
    let detail = Detail::WordAndText { word: 0, text: 1 };
    let probe = Probe { function: 1, detail, cpu: false, entry_only: true };
    attach.set(&targets, &[probe], Mode::Timing).unwrap();
    program.work();
    let taken = attach.take().unwrap();
    let longest = [b'x'; TEXT_BYTES];
    let expected = [
        text_hash(b"SELECT 1") << 4 | 3,
        4,
        text_hash(b"") << 4 | 5,
        text_hash(&longest) << 4 | 6,
        text_hash(b"SELECT 1") << 4 | 7,
    ];
    let details: Vec<u32> = taken.threads[0].records.iter().map(|record| record.detail).collect();
    assert_eq!(details, expected);
    let texts: HashMap<u32, &str> = taken.texts.iter().map(|(hash, text)| (*hash, text.as_str())).collect();
    assert_eq!(taken.texts.len(), 3);
    assert_eq!(texts[&text_hash(b"SELECT 1")], "SELECT 1");
    assert_eq!(texts[&text_hash(&longest)].len(), TEXT_BYTES);
    program.work();
    assert_eq!(attach.take().unwrap().texts, []);
}

const TICK_NS: u64 = 10_000_000;

/// By the host, from all CPUs, in ticks that have gone by.
fn stolen_ns() -> u64 {
    let stat = std::fs::read_to_string("/proc/stat").unwrap();
    let ticks: u64 = stat.lines().next().unwrap().split_whitespace().nth(8).unwrap().parse().unwrap();
    ticks * TICK_NS
}

#[test]
fn a_threads_cpu_time_grows_as_it_works_and_not_as_it_sleeps() {
    let mut program = Program::start(
        "cpu",
        r"
static long had(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}
FUNCTION void spin(void) { long until = had() + 50000000; while (had() < until); }
FUNCTION int wait_a_while(void) { return usleep(50000) + 1; }
static long work(void) { spin(); wait_a_while(); return had(); }",
    );
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    let targets = program.targets(&["spin", "wait_a_while"]);
    attach.set(&targets, &probes(&targets, Probe { cpu: true, ..PLAIN }), Mode::Timing).unwrap();
    let stolen = stolen_ns();
    let had = program.work() as u64;
    let stolen = stolen_ns() - stolen + TICK_NS;
    let thread = only(attach.take().unwrap());
    let kinds: Vec<_> = thread.records.iter().map(|record| record.kind().unwrap()).collect();
    let pair = [Kind::Enter, Kind::Cpu, Kind::Exit, Kind::Cpu];
    assert_eq!(kinds, [pair, pair].concat());
    let cpu: Vec<u64> = thread.records.iter().skip(1).step_by(2).map(|record| record.id()).collect();
    let times: Vec<u64> = thread.records.iter().step_by(2).map(|record| record.time).collect();
    assert_eq!(thread.records[0].time, thread.records[1].time);
    assert!(cpu[..3].is_sorted(), "{cpu:?}");
    // What the host took while it ran is not the thread's, and is taken off when it turns to sleep.
    assert!(cpu[3] + stolen >= cpu[2], "{cpu:?}, {stolen} ns stolen");
    let (spun, slept) = (cpu[1] - cpu[0], cpu[3].saturating_sub(cpu[2]));
    assert!((49_900_000..55_000_000 + stolen).contains(&spun), "{spun} ns while it spun for 50 ms");
    assert!(slept < 2_000_000 && times[3] - times[2] >= 50_000_000, "{slept} ns while it slept");
    // The program's own reading right after agrees.
    assert!(had.abs_diff(cpu[3]) < 1_000_000, "{had} {cpu:?}");
}

#[test]
fn a_markers_calls_become_marks() {
    let mut program = Program::start(
        "mark",
        r#"
FUNCTION void tare_mark(uint32_t kind, uint64_t id, const char *label) { }
static long work(void)
{
	tare_mark(4, 0x123456789abcdefL, NULL);
	tare_mark(8, 3, "payment");
	tare_mark(8, 3, NULL);
	tare_mark(5, 9, NULL);
	tare_mark(6, 9, NULL);
	tare_mark(9, 9, NULL);
	tare_mark(7, 0x123456789abcdefL, NULL);
	return 0;
}"#,
    );
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    let targets = program.targets(&["tare_mark"]);
    let probe = Probe { function: 1, detail: Detail::Mark, cpu: false, entry_only: true };
    attach.set(&targets, &[probe], Mode::Timing).unwrap();
    program.work();
    let taken = attach.take().unwrap();
    assert_eq!(taken.texts, [(text_hash(b"payment"), "payment".to_owned())]);
    let marks: Vec<_> =
        only(taken).records.iter().map(|record| (record.kind().unwrap(), record.id())).collect();
    let id = 0x0123_4567_89ab_cdef;
    let label = 3 << 32 | u64::from(text_hash(b"payment"));
    assert_eq!(
        marks,
        [(Kind::Begin, id), (Kind::Label, label), (Kind::Suspend, 9), (Kind::Resume, 9), (Kind::End, id)]
    );
}

#[test]
fn counting_counts_every_call_and_markers_go_on_recording() {
    let mut program = Program::start(
        "counting",
        r"
FUNCTION void begin(int n) { }
FUNCTION void leaf(void) { }
FUNCTION void never(void) { }
static void *thread(void *none) { for (int i = 0; i < 10000; i++) leaf(); return none; }
static long work(void)
{
	pthread_t threads[4];

	begin(7);
	for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, thread, NULL);
	for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
	return 0;
}",
    );
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    let targets = program.targets(&["begin", "leaf", "never"]);
    let mut probes = probes(&targets, PLAIN);
    probes[0].detail = Detail::Word(0);
    for _ in 0..2 {
        attach.set(&targets, &probes, Mode::Counting).unwrap();
        program.work();
        assert_eq!(attach.calls().unwrap(), [(2, 40_000), (3, 0)]);
        assert_eq!(signs(&only(attach.take().unwrap())), "+1 -1");
    }
}

#[test]
fn a_semaphore_is_up_while_its_probe_is_on() {
    let mut program = Program::start(
        "semaphore",
        r#"
__attribute__((section(".probes"))) volatile unsigned short semaphore = 0;
FUNCTION void probe(void) { }
static long work(void) { if (semaphore) probe(); return semaphore; }"#,
    );
    let Some(mut attach) = watch(&[program.pid()], false) else { return };
    let mut targets = program.targets(&["probe"]);
    targets[0].semaphore = program.symbols["semaphore"].0;
    let probe = Probe { function: 1, entry_only: true, ..PLAIN };
    for round in 0..2 {
        assert_eq!(program.work(), 0, "{round}");
        attach.set(&targets, &[probe], Mode::Timing).unwrap();
        assert_eq!(program.work(), 1, "{round}");
        assert_eq!(signs(&only(attach.take().unwrap())), "+1");
        attach.set(&[], &[], Mode::Timing).unwrap();
    }
    assert_eq!(program.work(), 0);
}
