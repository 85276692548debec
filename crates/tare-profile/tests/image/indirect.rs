//! Functions that are chosen when a file is loaded, and calls by pointer.

use std::io::Read;
use std::process::{Command, Stdio};

use tare_profile::image::Image;

use crate::compiled::{Compiled, only};

const CHOOSES: &str = r#"
#include <unistd.h>
#define FUNCTION __attribute__((noipa))
FUNCTION static int slow(int x) { return x * 3; }
FUNCTION static int fast(int x) { return x * 5; }
static int (*choose(void))(int) { return fast; }
__attribute__((ifunc("choose"))) int chosen(int x);
int main(int argc, char **argv) {
    char c = chosen(argc) + (argc > 9 ? slow(argc) : 0);
    write(1, &c, 1);
    return (int)read(0, &c, 1);
}
"#;

#[test]
fn the_implementation_that_a_resolver_chose_is_read_from_the_process() {
    for options in [&[][..], &["-no-pie"], &["-static"]] {
        let Some(program) = Compiled::new(CHOOSES, options) else { continue };
        let image = Image::open(&program.path).unwrap();
        assert!(image.is_indirect("chosen") && !image.is_indirect("fast"));
        let mut child =
            Command::new(&program.path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let found = image.implementation(child.id() as i32, "chosen", &[&image]).unwrap();
        assert_eq!(found.map(|function| function.name.as_str()), Some("fast"), "{options:?}");
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}

const CALLS: &str = r#"
#define FUNCTION __attribute__((noipa))
FUNCTION static int in_a_table(int x) { return x + 1; }
FUNCTION static int taken_by_code(int x) { return x + 2; }
FUNCTION static int never_taken(int x) { return x + 3; }
static int (*const table[])(int) = {in_a_table, in_a_table};
FUNCTION int calls(int (*f)(int), int x) { return f(x) + 1; }
int main(int argc, char **argv) {
    return calls(argc > 1 ? taken_by_code : table[argc & 1], argc) + never_taken(argc);
}
"#;

#[test]
fn functions_whose_address_is_taken_may_be_called_by_pointer() {
    for options in [&[][..], &["-no-pie"]] {
        let Some(program) = Compiled::new(CALLS, options) else { return };
        let image = Image::open(&program.path).unwrap();
        for (name, taken) in [("in_a_table", true), ("taken_by_code", true), ("never_taken", false)] {
            assert_eq!(only(&image, name).address_taken, taken, "{name} {options:?}");
            assert_eq!(only(&image, name).called_directly, !taken, "{name} {options:?}");
        }
        let calls = only(&image, "calls");
        let returns: Vec<u64> = (calls.address..calls.address + calls.size)
            .filter(|address| image.calls_by_pointer(*address))
            .collect();
        assert_eq!((calls.indirect_sites, returns.len()), (1, 1), "{options:?}");
        assert!(image.calls(returns[0]) && !image.calls(returns[0] + 1));
        let main = only(&image, "main");
        let all = (main.address..main.address + main.size).filter(|address| image.calls(*address));
        assert_eq!(all.count(), 2, "{options:?}");
    }
}
