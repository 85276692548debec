//! Records that no program makes: nothing panics, and what is told still adds up.

use proptest::collection::vec;
use proptest::prelude::*;
use tare_rings::Record;

use super::told::*;
use crate::backend::{Detail, ThreadRecords};
use crate::recording::tests::Script;
use crate::recording::{Gap, Span};
use crate::rules::Rules;

fn record() -> impl Strategy<Value = Record> {
    let word = (0..12u32, 0..6u32).prop_map(|(kind, subject)| kind << 28 | subject);
    (0..400u64, word, 0..40u32).prop_map(|(time, word, detail)| Record { time, word, detail })
}

fn chunks() -> impl Strategy<Value = Vec<ThreadRecords>> {
    let chunk = (0..3, vec(record(), 0..60), prop::bool::weighted(0.8));
    let chunk = chunk.prop_map(|(tid, mut records, in_time)| {
        if in_time {
            records.sort_by_key(|record| record.time);
        }
        ThreadRecords { pid: tid % 2, tid, records }
    });
    vec(chunk, 0..6)
}

fn rules() -> impl Strategy<Value = Rules> {
    prop_oneof![
        Just(Rules::Function { root: 1 }),
        Just(Rules::State { marker: 1, running: vec![1, 2], pausing: vec![3], ended: vec![0, 99] }),
        Just(Rules::Dispatch { root: 1, labelled: vec![1], opens: vec![2], closes: vec![3, 2] }),
        Just(Rules::Annotation),
        Just(Rules::Marks { begin: 1, end: vec![2, 1] }),
    ]
}

fn spans() -> impl Strategy<Value = Vec<Span>> {
    let span = (0..400u64, 0..200u64, vec(0..6u32, 0..2), vec(0..6u32, 0..2));
    vec(span, 0..4).prop_map(|spans| {
        let mut spans: Vec<Span> = (0..)
            .zip(spans)
            .map(|(number, (begin, length, entry_only, told))| Span {
                entry_only,
                details: told
                    .into_iter()
                    .map(|function| (function, Detail::WordAndText { word: 0, text: 1 }))
                    .collect(),
                ..window(number, begin, begin + length)
            })
            .collect();
        spans.sort_by_key(|span| span.begin);
        spans
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn any_records_come_to_something_that_adds_up(
        chunks in chunks(), rules in rules(), spans in spans(), gaps in vec((0..400u64, 0..100u64), 0..3),
    ) {
        let gaps = gaps.into_iter().map(|(from, length)| Gap { lost: 1, from, to: from + length }).collect();
        let texts = vec![(1, "BEGIN".to_owned()), (2, "/* tare:x */".to_owned())];
        let records: usize = chunks.iter().map(|chunk| chunk.records.len()).sum();
        let profile = scripted(&rules, Script { spans, chunks, texts, gaps }); // which looks whether it adds up
        prop_assert_eq!(profile.records, records as u64);
    }
}
