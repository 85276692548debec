//! A program with marks.

fn main() {
    tare_annotate::begin(1);
    tare_annotate::label(1, c"payment");
    tare_annotate::suspend(1);
    tare_annotate::resume(1);
    tare_annotate::end(1);
    tare_annotate::begin((1 << 60) - 1);
}
