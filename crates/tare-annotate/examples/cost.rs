//! What a mark costs where no agent is loaded: `cargo run --release -p tare-annotate --example cost`.

use std::hint::black_box;
use std::time::Instant;

const MARKS: u64 = 50_000_000;

fn main() {
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let begun = Instant::now();
        for id in 0..MARKS {
            tare_annotate::begin(black_box(id));
        }
        best = best.min(begun.elapsed().as_nanos() as f64 / MARKS as f64);
    }
    println!("{best:.2} ns a mark, with no agent");
}
