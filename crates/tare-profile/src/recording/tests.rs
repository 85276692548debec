use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use tare_rings::{Kind, Record};

use super::frame::{FrameKind, Last, WindowBegin, WindowEnd};
use super::replay::Replay;
use super::writer::Writer;
use super::*;
use crate::backend::{Detail, Mode, Probe, Taken, ThreadRecords};
use crate::profile::Window;

/// A file of one test's, gone with it.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let thread = format!("{:?}", std::thread::current().id());
        let path = std::env::temp_dir().join(format!("tare-{name}-{}-{thread}", std::process::id()));
        let _ = fs::remove_file(&path);
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// What a recording is to hold. Its ticks are ns.
#[derive(Clone, Default)]
pub(crate) struct Script {
    pub(crate) spans: Vec<Span>,
    pub(crate) chunks: Vec<ThreadRecords>,
    pub(crate) texts: Vec<(u32, String)>,
    pub(crate) gaps: Vec<Gap>,
}

impl Script {
    /// Such a recording, as a session would have written it.
    pub(crate) fn recorded(&self) -> (Scratch, Recording) {
        let file = Scratch::new("script");
        let mut writer = Writer::create(file.path()).unwrap();
        writer.numbers(FrameKind::Clock, &[0, 0]).unwrap();
        for span in &self.spans {
            let Span { window, begin, end, entry_only, details } = span.clone();
            let details = details.iter().map(|(function, detail)| (*function, detail.to_string())).collect();
            let Window { number, purpose, round, mode, functions, calls, own_cpu_ns, unrecorded, .. } =
                window;
            let begin =
                WindowBegin { number, ticks: begin, mode, purpose, round, functions, entry_only, details };
            writer.json(FrameKind::Begin, &begin).unwrap();
            writer
                .json(FrameKind::End, &WindowEnd { number, ticks: end, calls, own_cpu_ns, unrecorded })
                .unwrap();
        }
        writer.json(FrameKind::Texts, &self.texts).unwrap();
        self.gaps
            .iter()
            .for_each(|gap| writer.numbers(FrameKind::Lost, &[gap.lost, gap.from, gap.to]).unwrap());
        self.chunks.iter().for_each(|chunk| writer.records(chunk).unwrap());
        writer.numbers(FrameKind::Clock, &[1 << 40, 1 << 40]).unwrap();
        writer.json(FrameKind::Last, &Last { own_cpu_ns: 0, records: 0 }).unwrap();
        writer.flush().unwrap();
        drop(writer);
        let recording = Recording::open(file.path()).unwrap();
        (file, recording)
    }
}

const PLAIN: Probe = Probe { function: 1, detail: Detail::Site, cpu: false, entry_only: false };
const MARKER: Probe =
    Probe { function: 2, detail: Detail::WordAndText { word: 0, text: 1 }, cpu: true, entry_only: true };
const REFUSED: Probe = Probe { function: 3, ..PLAIN };

fn taken(tid: i32, times: impl IntoIterator<Item = u64>) -> Taken {
    let records = times.into_iter().map(|time| Record::new(time, Kind::Enter, 1, 7)).collect();
    Taken { threads: vec![ThreadRecords { pid: 10, tid, records }], ..Taken::default() }
}

fn until(what: impl Fn() -> bool) {
    let begun = Instant::now();
    while !what() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it never happened");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn records(recording: &Recording, tid: i32) -> Vec<Record> {
    let mut all = Vec::new();
    recording.thread((10, tid), |record| all.push(record)).unwrap();
    all
}

/// Two windows, the second one counting; four records, two texts, three records lost.
fn played(path: &Path) -> Replay {
    let replay = Replay::default();
    let mut recorder = Recorder::start(path, replay.backend()).unwrap();
    replay.tape().refuses = vec![3];
    let refused = recorder.set(&[], &[PLAIN, MARKER, REFUSED], Mode::Timing, "probed", 4).unwrap();
    assert_eq!(refused.iter().map(|refused| refused.function).collect::<Vec<_>>(), [3]);
    let texts = vec![(5, "SELECT 'é'".to_owned()), (6, String::new())];
    replay.tape().taken.push_back(Taken { texts, lost: 3, ..taken(20, [1, 2]) });
    replay.tape().taken.push_back(taken(21, [3]));
    replay.tape().taken.push_back(taken(20, [4]));
    until(|| replay.tape().taken.is_empty());
    replay.tape().calls = vec![(1, 99)];
    recorder.set(&[], &[PLAIN], Mode::Counting, "counting", 5).unwrap();
    assert_eq!(recorder.calls().unwrap(), [(1, 99)]);
    recorder.stop().unwrap();
    replay
}

#[test]
fn what_a_backend_hands_over_is_in_the_file() {
    let file = Scratch::new("handed-over");
    let replay = played(file.path());
    let recording = Recording::open(file.path()).unwrap();
    assert_eq!((recording.cut, recording.records), (None, 4));
    assert_eq!(recording.threads().collect::<Vec<_>>(), [(10, 20), (10, 21)]);
    assert_eq!(records(&recording, 20).iter().map(|record| record.time).collect::<Vec<_>>(), [1, 2, 4]);
    assert_eq!(records(&recording, 21), [Record::new(3, Kind::Enter, 1, 7)]);
    let mut texts = Vec::new();
    recording.texts(|hash, text| texts.push((hash, text.to_owned()))).unwrap();
    assert_eq!(texts, [(5, "SELECT 'é'".to_owned()), (6, String::new())]);
    assert_eq!(recording.gaps.iter().map(|gap| gap.lost).collect::<Vec<_>>(), [3]);
    assert!(recording.gaps[0].from < recording.gaps[0].to);
    assert_eq!(replay.tape().asked, ["set", "set", "finish"]);
}

#[test]
fn windows_tell_what_was_on_and_when() {
    let file = Scratch::new("windows");
    played(file.path());
    let [probed, counting] = &Recording::open(file.path()).unwrap().spans[..] else { panic!() };
    assert_eq!(
        (probed.window.purpose.as_str(), probed.window.round, probed.window.mode),
        ("probed", 4, Mode::Timing)
    );
    assert_eq!((&probed.window.functions[..], &probed.entry_only[..]), (&[1, 2][..], &[2][..]));
    assert_eq!(probed.details, [(2, MARKER.detail)]);
    assert_eq!((probed.window.lost, counting.window.lost), (3, 0));
    assert_eq!((counting.window.number, &counting.window.calls[..]), (1, &[(1, 99)][..]));
    let times =
        [probed.window.begin_ns, probed.window.end_ns, counting.window.begin_ns, counting.window.end_ns];
    assert!(times.is_sorted() && times[0] < times[1], "{times:?}");
    assert!(probed.window.own_cpu_ns > 0 && probed.window.own_cpu_ns < 1_000_000_000);
}

#[test]
fn a_recording_that_is_cut_off_anywhere_is_read_up_to_its_last_whole_frame() {
    let (file, cut) = (Scratch::new("whole"), Scratch::new("cut"));
    played(file.path());
    let bytes = fs::read(file.path()).unwrap();
    let mut most = 0;
    for length in 0..bytes.len() {
        fs::write(cut.path(), &bytes[..length]).unwrap();
        let Ok(recording) = Recording::open(cut.path()) else {
            assert!(length < 16, "{length}");
            continue;
        };
        let told = recording.cut.expect("it says so");
        assert_eq!(told.whole + told.rest, length as u64);
        assert!(recording.records >= most);
        most = recording.records;
        let read: usize = [20, 21].iter().map(|tid| records(&recording, *tid).len()).sum();
        assert_eq!(read as u64, recording.records);
        if recording.records > 0 {
            assert!(!recording.spans.is_empty() && recording.spans[0].end > recording.spans[0].begin);
        }
    }
    assert_eq!(most, 4);
}

proptest! {
    /// Whatever is damaged, what comes before it is read, and nothing is made of the rest.
    #[test]
    fn a_damaged_byte_ends_the_recording(at in 0..10_000usize, bit in 0..8u8) {
        static SOUND: OnceLock<Vec<u8>> = OnceLock::new();
        let sound = SOUND.get_or_init(|| {
            let file = Scratch::new("sound");
            played(file.path());
            fs::read(file.path()).unwrap()
        });
        let damaged = Scratch::new("damaged");
        let mut bytes = sound.clone();
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        fs::write(damaged.path(), &bytes).unwrap();
        match Recording::open(damaged.path()) {
            Err(_) => prop_assert!(at < 12, "only its first bytes tell what a file is"),
            Ok(recording) => prop_assert!(
                (12..16).contains(&at) || recording.cut.is_some_and(|cut| cut.whole <= at as u64)
            ),
        }
    }
}

#[test]
fn a_full_disk_is_told_and_the_probes_are_taken_off() {
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let refused =
        Writer::to(Box::new(full), Path::new("/dev/full")).err().expect("nothing can be written there");
    assert!(refused.what.contains("/dev/full") && refused.next_step.contains("make room"), "{refused}");

    let file = Scratch::new("full");
    let small = Small { file: File::create(file.path()).unwrap(), room: 1_000 };
    let replay = Replay::default();
    let mut recorder =
        Recorder::with(Writer::to(Box::new(small), file.path()).unwrap(), replay.backend()).unwrap();
    recorder.set(&[], &[PLAIN], Mode::Timing, "probed", 0).unwrap();
    replay.tape().taken.push_back(taken(20, 1..4));
    replay.tape().taken.push_back(taken(20, 4..1_000));
    until(|| !recorder.alive());
    assert_eq!(replay.tape().asked, ["set", "finish"]);
    let refused = recorder.set(&[], &[PLAIN], Mode::Timing, "probed", 0).unwrap_err();
    assert!(refused.next_step.contains("make room"), "{refused}");
    assert_eq!(recorder.stop(), Err(refused));
    assert_eq!(recorder.stop(), Ok(()), "it was told once");
    assert_eq!(replay.tape().asked, ["set", "finish"]);
    let recording = Recording::open(file.path()).unwrap();
    assert_eq!(recording.records, 3);
    assert!(recording.cut.is_some_and(|cut| cut.rest > 0));
}

/// A disk with so much room.
struct Small {
    file: File,
    room: usize,
}

impl std::io::Write for Small {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let fits = bytes.len().min(self.room);
        if fits == 0 && !bytes.is_empty() {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        self.room -= fits;
        self.file.write(&bytes[..fits])
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

#[test]
fn a_recorder_that_is_dropped_takes_its_probes_off() {
    let file = Scratch::new("dropped");
    let replay = Replay::default();
    drop(Recorder::start(file.path(), replay.backend()).unwrap());
    assert_eq!(replay.tape().asked, ["finish"]);
    assert_eq!(Recording::open(file.path()).unwrap().cut, None);
}

#[test]
fn stopping_twice_is_stopping_once() {
    let file = Scratch::new("twice");
    let replay = Replay::default();
    let mut recorder = Recorder::start(file.path(), replay.backend()).unwrap();
    assert!(recorder.alive());
    assert_eq!((recorder.stop(), recorder.stop()), (Ok(()), Ok(())));
    assert_eq!(replay.tape().asked, ["finish"]);
    assert!(!recorder.alive());
    assert!(recorder.calls().unwrap_err().what.contains("stopped"));
}

#[test]
fn after_a_refusal_other_probes_may_be_tried() {
    let file = Scratch::new("refusal");
    let replay = Replay::default();
    replay.tape().refuses = vec![3];
    let mut recorder = Recorder::start(file.path(), replay.backend()).unwrap();
    assert!(recorder.set(&[], &[REFUSED], Mode::Timing, "", 0).unwrap_err().what.contains("no probe"));
    assert!(recorder.alive());
    assert_eq!(recorder.set(&[], &[PLAIN], Mode::Timing, "", 0), Ok(vec![]));
    recorder.stop().unwrap();
    assert_eq!(Recording::open(file.path()).unwrap().spans.len(), 1, "only what was set is a window");
}

#[test]
fn what_is_no_recording_is_told_from_one_of_another_format() {
    let file = Scratch::new("other");
    let told = |bytes: &[u8]| {
        fs::write(file.path(), bytes).unwrap();
        Recording::open(file.path()).unwrap_err().what
    };
    assert!(told(b"").contains("is no recording"));
    assert!(told(b"PGDMP and some more bytes").contains("is no recording"));
    assert!(told(b"TAREPROF\x01\0\0\0\0\0\0\0").contains("format 1"));
    fs::remove_file(file.path()).unwrap();
    assert!(Recording::open(file.path()).unwrap_err().what.contains("No such file"));
}

#[test]
fn an_old_recording_is_not_written_over() {
    let file = Scratch::new("old");
    fs::write(file.path(), "mine").unwrap();
    let refused = Recorder::start(file.path(), Replay::default().backend()).err().unwrap();
    assert!(refused.next_step.contains("another name"), "{refused}");
    assert_eq!(fs::read(file.path()).unwrap(), b"mine");
}

#[test]
fn annotation_asks_for_no_probe_and_hands_over_what_comes() {
    let replay = Replay::default();
    let mut backend: Box<dyn crate::backend::Backend> =
        Box::new(crate::annotation::Annotation::over(replay.backend()));
    replay.tape().refuses = vec![1];
    let refused = backend.set(&[], &[PLAIN], Mode::Timing).unwrap();
    assert_eq!((refused.len(), refused[0].function), (1, 1));
    replay.tape().taken.push_back(taken(20, [1]));
    assert_eq!(backend.take().unwrap().threads.len(), 1);
    assert_eq!(backend.name(), "annotation");
}
