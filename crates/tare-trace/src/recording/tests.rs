use super::*;
use crate::event::Request;
use proptest::prelude::*;

const IDLE: Who = Who { tid: 0, tgid: 0, traced: false };
const QUERY: Who = Who { tid: 10, tgid: 10, traced: true };
const OTHER: Who = Who { tid: 20, tgid: 20, traced: false };

fn on(at: u64, what: What) -> Event {
    Event { at, cpu: 0, what }
}

fn switch(at: u64, from: Who, after: After, to: Who, slices: u32) -> Event {
    on(at, What::Switch { from, after, to, slices, stolen: 0 })
}

fn request(address: u64, by: Who) -> Request {
    Request { address, by, kernel: false, bytes: 4096, operation: 0 }
}

/// A query that runs 10–20, reads from the disk until 60 beside another reader, and runs 65–90.
fn cold() -> Vec<Event> {
    vec![
        on(1, What::Look { who: QUERY, state: After::Sleep, slices: 3 }),
        on(8, What::Wake(QUERY)),
        switch(10, IDLE, After::RunQueue, QUERY, 3),
        on(15, What::Submit(request(1, QUERY))),
        on(16, What::Issue(request(1, QUERY))),
        switch(20, QUERY, After::BlockIo, OTHER, 0),
        on(22, What::Submit(request(2, OTHER))),
        on(23, What::Issue(request(2, OTHER))),
        switch(25, OTHER, After::BlockIo, IDLE, 0),
        on(45, What::Done(request(1, IDLE))),
        on(60, What::Wake(QUERY)),
        switch(65, IDLE, After::RunQueue, QUERY, 4),
        on(70, What::Done(request(2, IDLE))),
        on(70, What::Wake(OTHER)),
        switch(90, QUERY, After::Sleep, OTHER, 0),
        on(99, What::Look { who: QUERY, state: After::Sleep, slices: 5 }),
    ]
}

fn recording(events: Vec<Event>) -> Recording {
    Recorded { began_ns: 0, ended_ns: 100, events, ..Recorded::default() }.into()
}

#[test]
fn a_cold_query_is_taken_apart() {
    let weighed = recording(cold()).weigh(10, 95, &[10]);
    assert_eq!(weighed.why, Vec::<String>::new());
    let [thread] = weighed.threads.as_slice() else { panic!("{weighed:?}") };
    assert_eq!(thread.spent_ns, [10 + 25, 5, 5, 40, 0]);
    assert_eq!(thread.own_io_ns, 45 - 20, "its own request was in flight for the first part of its wait");
    assert_eq!((weighed.disk.in_flight_ns, weighed.disk.requests), (45 - 16, 1));
    assert_eq!((weighed.disk.others_ns, weighed.disk.others_requests), (70 - 23, 1));
}

#[test]
fn iowait_is_shared_out_by_whose_request_was_in_flight() {
    let weighed = recording(cold()).weigh(10, 95, &[10]);
    let [cpu] = weighed.cpus.as_slice() else { panic!("{weighed:?}") };
    assert_eq!((cpu.idle_ns, cpu.iowait_ns), (40, 40));
    assert_eq!((cpu.own_iowait_ns, cpu.own_disk_ns), (60 - 25, 45 - 25));
}

#[test]
fn a_worker_that_is_born_within_belongs_to_its_process() {
    let worker = Who { tid: 11, tgid: 11, traced: true };
    let mut events = cold();
    events.truncate(15);
    events.extend([
        on(91, What::Fork(worker)),
        on(92, What::Wake(worker)),
        switch(93, OTHER, After::RunQueue, worker, 0),
        switch(95, worker, After::Ended, OTHER, 1),
    ]);
    let weighed = recording(events).weigh(10, 99, &[10, 11]);
    assert_eq!(weighed.why, Vec::<String>::new());
    assert_eq!(weighed.threads[1].spent_ns, [2, 1, 1, 0, 0]);
    assert_eq!(weighed.threads[1].present_ns, 4);
}

#[test]
fn an_id_that_is_used_again_is_another_thread() {
    let mut events = cold();
    events[14] = switch(90, QUERY, After::Ended, OTHER, 0);
    events[15] = on(91, What::Fork(QUERY));
    let weighed = recording(events).weigh(10, 100, &[10]);
    assert_eq!(weighed.threads.iter().map(|t| t.present_ns).collect::<Vec<_>>(), [80, 9]);
}

#[test]
fn a_switch_that_only_the_one_who_came_tells_of_is_whole() {
    let mut events = cold();
    events[2] = on(10, What::Arrive { who: QUERY, slices: 4, stolen: 0 });
    let weighed = recording(events).weigh(10, 95, &[10]);
    assert_eq!(weighed.why, Vec::<String>::new());
    assert_eq!((weighed.threads[0].spent_ns[0], weighed.threads[0].switch_ins), (35, 2));
}

#[test]
fn what_found_no_room_and_what_was_not_listened_to_speak_against_it() {
    let full = Recording::from(Recorded { dropped: 2, ended_ns: 100, events: cold(), ..Recorded::default() });
    assert_eq!(full.weigh(10, 95, &[10]).why, ["2 events found no room"]);
    assert_eq!(full.weigh(10, 101, &[10]).why.len(), 2);
    assert_eq!(recording(cold()).weigh(10, 95, &[77]).why, ["no thread of the chosen processes was seen"]);
}

proptest! {
    /// Any one event of the query's thread that is lost within the interval is found out, but for one that
    /// changes no part of it (a look, a wake-up while it runs).
    #[test]
    fn a_lost_event_of_the_query_is_found_out(lost in 1usize..15) {
        let mut events = cold();
        let what = events.remove(lost).what;
        let weighed = recording(events).weigh(10, 95, &[10]);
        match what {
            What::Switch { from, to, .. } if from == QUERY || to == QUERY => prop_assert!(!weighed.why.is_empty()),
            // The very first wake-up lies before the interval; the first switch-in tells of it.
            What::Wake(QUERY) => prop_assert!(!weighed.why.is_empty() || lost == 1),
            What::Switch { .. } => prop_assert!(weighed.cpus[0].unknown_ns > 0),
            What::Done(request) if request.address == 1 => prop_assert!(!weighed.why.is_empty()),
            _ => prop_assert_eq!(weighed.threads.len(), 1),
        }
    }

    #[test]
    fn the_parts_of_two_intervals_add_up_to_those_of_both(cut in 10u64..95) {
        let recording = recording(cold());
        let (one, two, both) =
            (recording.weigh(10, cut, &[10]), recording.weigh(cut, 95, &[10]), recording.weigh(10, 95, &[10]));
        for state in [State::OnCpu, State::RunQueue, State::Sleep, State::BlockIo, State::OtherWait] {
            prop_assert_eq!(one.spent_ns(state) + two.spent_ns(state), both.spent_ns(state));
        }
        prop_assert_eq!(one.disk.in_flight_ns + two.disk.in_flight_ns, both.disk.in_flight_ns);
        let iowait = |weighed: &Weighed| weighed.cpus[0].iowait_ns;
        prop_assert_eq!(iowait(&one) + iowait(&two), iowait(&both));
        let counted = |weighed: &Weighed| weighed.threads.iter().map(|t| t.slices).sum::<u64>();
        prop_assert_eq!(counted(&one) + counted(&two), counted(&both));
    }
}
