//! A profiler that is gone slows nobody; one that was only late is told what it missed.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod watched;

use std::thread::sleep;
use std::time::Duration;

use tare_profile::backend::Mode;
use tare_rings::{Kind, Shared};
use watched::compile;

#[test]
fn two_seconds_without_a_profiler_switch_everything_off_and_its_return_says_what_was_lost() {
    let mut running = compile("steady.c", &[]).start(&["leaf"], Mode::Timing, |_, _| {});
    let shared = Shared::open(running.rings()).unwrap();
    running.go_on();
    running.until_entered("leaf");
    let on = || shared.switches()[0].load(std::sync::atomic::Ordering::Relaxed) != 0;
    assert!(on());
    sleep(Duration::from_millis(2600));
    assert!(!on(), "nobody has looked for more than two seconds");
    running.take();
    assert!(on(), "somebody looks again");
    running.until_entered("leaf");
    let ended = running.end();
    assert_eq!(ended.output, "1\n");
    assert!(ended.all().filter(|record| record.kind() == Some(Kind::Lost)).count() >= 1);
}
