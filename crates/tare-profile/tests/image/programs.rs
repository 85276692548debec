//! Each way in which one function can come to another.

use tare_profile::image::{First, Image};

use crate::compiled::{Compiled, calls, height, only};

/// `noipa`: as if each function were in a file of its own, so that calls stay what they are written as.
const PROGRAM: &str = r#"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#define FUNCTION __attribute__((noipa))

__attribute__((noipa, cold)) void complain(int x);
__attribute__((noipa, cold, noreturn)) void give_up(int x) { printf("%d\n", x); exit(1); }
FUNCTION int leaf(int x) { return x * 3; }
FUNCTION int middle(int x) { return leaf(x) + leaf(x + 1) * 2; }
FUNCTION int tail(int x) { return leaf(x + 7); }
FUNCTION int recursive(int x) { return x < 2 ? leaf(1) : recursive(x - 1) / x + recursive(x - 2) % 3; }
int odd(int x);
FUNCTION int even(int x) { return x == 0 ? 1 : odd(x - 1) * 5 + 1; }
FUNCTION int odd(int x) { return x == 0 ? 0 : even(x - 1) * 5 + 2; }
FUNCTION int careful(int x, int *y) {
    int sum = 0;
    for (int i = 0; i < x; i++) {
        if (y[i] < 0) { complain(y[i]); give_up(y[i]); }
        sum += y[i];
    }
    return sum;
}
void complain(int x) { middle(x); }
FUNCTION static int hidden(int x) { assert(x != 42); return leaf(x) + 1; }
FUNCTION int by_pointer(int (*f)(int), int x) { return f(x) + 1; }
FUNCTION int by_pointer_at_last(int (**f)(int), int x) { return f[2](x); }
FUNCTION int choose(int x, int y) {
    switch (x) {
    case 0: return leaf(y) + 1;
    case 1: return middle(y) + 2;
    case 2: return tail(y) + 3;
    case 3: return odd(y) + 4;
    case 4: return even(y) + 5;
    case 5: return y * 7;
    default: return 0;
    }
}
FUNCTION int prints(int x) { return puts("x") + leaf(x); }
int main(int argc, char **argv) {
    int (*pointers[])(int) = {leaf, middle, tail};
    return middle(argc) + tail(argc) + recursive(argc) + even(argc) + careful(argc, &argc) + hidden(argc)
        + by_pointer(leaf, argc) + by_pointer_at_last(pointers, argc) + choose(argc, argc) + prints(argc);
}
"#;

fn program(options: &[&str]) -> Option<Compiled> {
    Compiled::new(PROGRAM, options)
}

#[test]
fn calls_are_those_of_the_source() {
    let Some(program) = program(&[]) else { return };
    let image = Image::open(&program.path).unwrap();
    assert_eq!(calls(&image, "leaf"), [""; 0]);
    assert_eq!(calls(&image, "middle"), ["leaf"]);
    assert_eq!(calls(&image, "recursive"), ["leaf", "recursive"]);
    assert_eq!(calls(&image, "even"), ["odd"]);
    assert_eq!(calls(&image, "odd"), ["even"]);
    assert_eq!(calls(&image, "choose"), ["even", "leaf", "middle", "odd", "tail"]);
    let main = [
        "by_pointer",
        "by_pointer_at_last",
        "careful",
        "choose",
        "even",
        "hidden",
        "middle",
        "prints",
        "recursive",
        "tail",
    ];
    assert_eq!(calls(&image, "main"), main);
}

#[test]
fn a_tail_call_is_a_call() {
    let Some(program) = program(&[]) else { return };
    assert_eq!(calls(&Image::open(&program.path).unwrap(), "tail"), ["leaf"]);
}

#[test]
fn another_librarys_functions_are_leaves_with_names() {
    for options in [
        &["-fcf-protection=none"][..],
        &["-fcf-protection=full", "-Wl,-z,ibtplt"],
        &["-fno-plt"],
        &["-no-pie"],
    ] {
        let Some(program) = program(options) else { return };
        let image = Image::open(&program.path).unwrap();
        let prints = image.entry(only(&image, "prints").address).unwrap();
        assert_eq!(image.others(prints).collect::<Vec<_>>(), ["puts"], "{options:?}");
        assert_eq!(calls(&image, "prints"), ["leaf"], "{options:?}");
    }
}

#[test]
fn a_librarys_calls_of_its_own_exports_are_followed_through_the_linkers_tables() {
    for options in [&["-shared", "-fPIC"][..], &["-shared", "-fPIC", "-fno-plt"]] {
        let Some(program) = program(options) else { return };
        let image = Image::open(&program.path).unwrap();
        assert_eq!(calls(&image, "middle"), ["leaf"], "{options:?}");
        assert_eq!(calls(&image, "tail"), ["leaf"], "{options:?}");
        assert_eq!(calls(&image, "recursive"), ["leaf", "recursive"], "{options:?}");
        assert!(image.counts().own_plt_calls > 10, "{options:?}: {:?}", image.counts());
        assert!(image.preloadable());
    }
}

#[test]
fn calls_by_pointer_are_counted_and_learnt_but_a_switch_is_none() {
    let Some(program) = program(&["-fno-plt"]) else { return };
    let mut image = Image::open(&program.path).unwrap();
    let sites = |image: &Image, name| only(image, name).indirect_sites;
    assert_eq!(sites(&image, "by_pointer"), 1);
    assert_eq!(sites(&image, "by_pointer_at_last"), 1, "a tail call by pointer");
    assert_eq!(sites(&image, "choose"), 0, "its table of jumps stays inside");
    let (caller, callee) = (only(&image, "by_pointer").address, only(&image, "even").address);
    assert!(image.learn(caller + 9, callee));
    assert!(!image.learn(caller, callee), "it is known by now");
    assert_eq!(calls(&image, "by_pointer"), ["even"]);
}

#[test]
fn heights_leave_out_error_paths_and_take_a_circle_for_one_level() {
    let Some(program) = program(&[]) else { return };
    let image = Image::open(&program.path).unwrap();
    let found = ["leaf", "middle", "tail", "recursive", "even", "odd", "choose", "main"]
        .map(|name| height(&image, name));
    assert_eq!(found, [0, 1, 1, 1, 0, 0, 2, 3]);
    assert_eq!(height(&image, "careful"), 0, "what it calls it calls in its cold part");
    let give_up = only(&image, "give_up");
    assert!(give_up.no_return);
    assert!(!only(&image, "main").no_return);
    let careful = image.entry(only(&image, "careful").address).unwrap();
    let children: Vec<&str> =
        image.graph().children(careful).iter().map(|at| &*image.functions()[*at as usize].name).collect();
    assert_eq!(children.len(), 2, "{children:?}");
}

#[test]
fn a_cold_part_belongs_to_its_function_with_or_without_its_name() {
    let Some(program) = program(&["-rdynamic"]) else { return };
    for path in [program.path.clone(), program.stripped()] {
        let image = Image::open(&path).unwrap();
        assert!(image.counts().cold_parts >= 1, "{:?}", image.counts());
        assert!(image.functions().iter().all(|function| !function.name.contains(".cold")));
        assert_eq!(calls(&image, "careful"), ["complain", "give_up"]);
        assert_eq!(height(&image, "careful"), 0);
    }
}

#[test]
fn a_static_function_goes_by_the_name_under_which_it_reports_errors() {
    let Some(program) = program(&["-rdynamic"]) else { return };
    let image = Image::open(program.stripped()).unwrap();
    let hidden = only(&image, "hidden");
    assert!(hidden.inferred);
    assert_eq!(calls(&image, "hidden"), ["leaf"]);
    assert!(!only(&Image::open(&program.path).unwrap(), "hidden").inferred, "here its symbol is there");
}

#[test]
fn an_address_is_told_by_its_function() {
    let Some(program) = program(&["-rdynamic"]) else { return };
    let image = Image::open(&program.path).unwrap();
    let middle = only(&image, "middle");
    assert_eq!(image.name_at(middle.address), "middle");
    assert_eq!(image.name_at(middle.address + 5), "middle+0x5");
    assert_eq!(image.function_at(middle.address + middle.size - 1), Some(middle));
    assert_eq!(image.name_at(1), "");
    assert_eq!(image.find(&format!("{:#x}", middle.address)), [middle]);
    let error = image.entry(middle.address + 1).unwrap_err();
    assert!(error.what.contains("no function of"), "{error}");
}

#[test]
fn the_first_instruction_is_told() {
    let Some(program) = program(&["-fcf-protection=full"]) else { return };
    assert_eq!(only(&Image::open(&program.path).unwrap(), "leaf").first, First::Endbr);
    let source = "__attribute__((noipa)) int callee(int x) { return x + 1; }
                  __attribute__((noipa)) int straight(int x) { return callee(x); }
                  __attribute__((noipa)) int saves(int x) { int y = callee(x); return callee(y) + x; }
                  __attribute__((noipa)) void empty(void) {}
                  int main(int argc) { empty(); return straight(argc) + saves(argc); }";
    let Some(program) = Compiled::new(source, &["-fcf-protection=none"]) else { return };
    let image = Image::open(&program.path).unwrap();
    let firsts = ["callee", "straight", "saves", "empty"].map(|name| only(&image, name).first);
    assert_eq!(firsts, [First::Other, First::Jump, First::Push, First::Return]);
}

#[test]
fn a_static_executable_is_read_and_known_to_take_no_preloaded_library() {
    for options in [&["-static"][..], &["-static-pie"]] {
        let Some(program) = program(options) else { return };
        let image = Image::open(&program.path).unwrap();
        assert!(!image.preloadable(), "{options:?}");
        assert!(image.says().contains("static"), "{}", image.says());
        assert_eq!(calls(&image, "middle"), ["leaf"]);
    }
}

#[test]
fn probes_that_the_authors_left_are_listed() {
    let source = r#"
        int main(int argc) {
            __asm__ volatile("990: nop\n"
                ".pushsection .note.stapsdt,\"\",\"note\"\n"
                ".balign 4\n .4byte 992f-991f, 994f-993f, 3\n"
                "991: .asciz \"stapsdt\"\n 992: .balign 4\n"
                "993: .8byte 990b\n .8byte 0\n .8byte 0\n"
                ".asciz \"ours\"\n .asciz \"query__start\"\n .asciz \"-4@%0\"\n"
                "994: .balign 4\n .popsection" :: "r"(argc));
            return 0;
        }"#;
    let Some(program) = Compiled::new(source, &["-no-pie"]) else { return };
    let image = Image::open(&program.path).unwrap();
    let [note] = image.usdt() else { panic!("{:?}", image.usdt()) };
    assert_eq!((&*note.provider, &*note.name, note.semaphore), ("ours", "query__start", 0));
    assert!(note.arguments.starts_with("-4@%"), "{note:?}");
    assert_eq!(image.function_at(note.address).map(|function| &*function.name), Some("main"));
}

#[test]
fn a_name_that_is_not_there_brings_those_like_it() {
    let Some(program) = program(&[]) else { return };
    let image = Image::open(&program.path).unwrap();
    assert!(image.find("recursve").is_empty());
    assert_eq!(image.near("recursve", 3)[0], "recursive");
    assert!(image.near("pointer", 3).contains(&"by_pointer".to_string()));
    assert!(image.near("qqqqqqqqqqqq", 3).is_empty());
}

#[test]
fn a_function_has_the_parts_that_the_compiler_moved_out_of_it() {
    const PROGRAM: &str = r#"
    #include <stdio.h>
    __attribute__((noipa, cold)) int repair(int x) { return x + 1; }
    __attribute__((noipa)) int whole(int x) { return x * 3; }
    __attribute__((noipa)) int split(int x) { if (x > 100) x = repair(x) * 5; return whole(x) + x; }
    int main(int argc, char **argv) { return printf("%d %s\n", split(argc), argv[0]); }
    "#;
    let Some(program) = Compiled::new(PROGRAM, &["-O2"]) else { return };
    let image = Image::open(&program.path).unwrap();
    assert_eq!(only(&image, "whole").parts, []);
    let [(address, size)] = only(&image, "split").parts[..] else {
        panic!("{:?}", only(&image, "split").parts)
    };
    assert_eq!(image.name_at(address), "split.cold");
    assert_eq!(image.name_at(address + size - 1).split('+').next(), Some("split.cold"));
}
