//! A file that was cut or overwritten gives an error, or what can still be read of it; never a crash.

use proptest::prelude::*;
use tare_profile::image::Image;

use crate::compiled::Compiled;

#[test]
fn no_damage_to_a_file_is_a_crash() {
    let source = "#include <stdio.h>\n__attribute__((noipa)) int f(int x) { return x + puts(\"\"); }
                  int main(int argc) { return f(argc); }";
    let Some(program) = Compiled::new(source, &[]) else { return };
    let whole = std::fs::read(&program.path).unwrap();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(300));
    let headers = 0..1024_usize;
    let sections = whole.len() - 2048..whole.len(); // their headers, which come last
    let place = prop_oneof![0..whole.len(), headers, sections];
    let bytes = prop::collection::vec((place, any::<u8>()), 0..60);
    let damage = (0..whole.len(), bytes, any::<bool>());
    let file = tempfile::NamedTempFile::new().unwrap();
    runner
        .run(&damage, |(length, bytes, cut)| {
            let mut content = whole.clone();
            for (at, byte) in bytes {
                content[at] = byte;
            }
            content.truncate(if cut { length } else { whole.len() });
            std::fs::write(file.path(), content).unwrap();
            if let Ok(image) = Image::open(file.path()) {
                prop_assert!(!image.says().is_empty());
                prop_assert_eq!(image.graph().heights().len(), image.functions().len());
                image.near("main", 3);
            }
            Ok(())
        })
        .unwrap();
}
