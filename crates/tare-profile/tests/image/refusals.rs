//! Files that cannot be read, each refused by a reason and a way on.

use tare_profile::image::Image;

use crate::compiled::Compiled;

/// The first 20 bytes of a file of this class (1: 32 bit, 2: 64 bit) and machine.
fn header(class: u8, machine: u16) -> Vec<u8> {
    let mut header = b"\x7fELF".to_vec();
    header.extend([class, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0]);
    header.extend(machine.to_le_bytes());
    header
}

fn refusal(content: &[u8]) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), content).unwrap();
    Image::open(file.path()).unwrap_err().to_string()
}

#[test]
fn what_is_no_program_of_this_machine_is_refused_by_name() {
    let cases: [(&[u8], &str); 6] = [
        (b"", "not an ELF file"),
        (b"#!/bin/sh\nexec postgres \"$@\"\n", "name the program that it starts"),
        (&header(1, 3), "is for x86;"),
        (&header(1, 62), "32-bit"),
        (&header(2, 183), "AArch64"),
        (&header(2, 62), "damaged"),
    ];
    for (content, expected) in cases {
        let said = refusal(content);
        assert!(said.contains(expected) && said.contains("next: "), "{said}");
    }
}

#[test]
fn a_path_that_leads_nowhere_is_told() {
    let error = Image::open("/nowhere/postgres").unwrap_err();
    assert_eq!(error.errno, libc::ENOENT);
    assert!(error.what.contains("/nowhere/postgres"), "{error}");
}

#[test]
fn a_stripped_program_tells_how_many_functions_it_has_and_what_to_install() {
    let source =
        "__attribute__((noipa)) int f(int x) { return x + 1; } int main(int argc) { return f(argc); }";
    let Some(program) = Compiled::new(source, &[]) else { return };
    let error = Image::open(program.stripped()).unwrap().require_names().unwrap_err();
    assert!(error.what.contains("is stripped: it has"), "{error}");
    assert!(error.next_step.contains("debug symbols"), "{error}");
}
