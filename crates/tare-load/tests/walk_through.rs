//! `docs/add-a-workload.md` quotes a workload that compiles and runs.

const PAGE: &str = include_str!("../../../docs/add-a-workload.md");
const EXAMPLE: &str = include_str!("../examples/transfer.rs");

#[test]
fn the_page_quotes_the_example_as_it_stands() {
    let (quoted, _) = EXAMPLE.split_once("/// What the driver does with it").unwrap();
    assert!(PAGE.contains(quoted.trim_end()), "copy examples/transfer.rs into docs/add-a-workload.md again");
}
