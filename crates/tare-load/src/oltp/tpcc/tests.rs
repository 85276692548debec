//! What is asked of TPC-C as a workload, without a DBMS; `tests/workloads/tpcc.rs` has it on real ones.

mod entered;

use std::collections::BTreeMap;

use super::*;
use crate::oltp::{Connection, Dialect, Ended, Row, Statement};

fn with(options: &[(&str, &str)], scale: f64) -> Result<Tpcc, Mistake> {
    let given: BTreeMap<_, _> =
        options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Tpcc::new(scale, 1, Options::new(given))
}

/// Answers as if every item, stock, customer and district were there, and counts what it is asked.
#[derive(Default)]
struct Counting(usize);

impl Connection for Counting {
    fn dialect(&self) -> Dialect {
        Dialect::PostgreSql
    }
    fn described(&mut self) -> Result<(String, String), Failure> {
        Ok((String::new(), String::new()))
    }
    fn begin(&mut self, _: bool) -> Result<(), Failure> {
        Ok(())
    }
    fn commit(&mut self) -> Result<(), Failure> {
        Ok(())
    }
    fn rollback(&mut self) -> Result<(), Failure> {
        Ok(())
    }
    fn rows(&mut self, statement: &'static Statement, _: &[Value]) -> Result<Vec<Row>, Failure> {
        self.0 += 1;
        let text = statement.text(self.dialect());
        let row = if text.contains("FROM item") {
            vec![Value::cents(100), "name".into(), "data".into()]
        } else if text.contains("FROM stock") {
            vec![50.into(), "district".into(), "data".into()]
        } else if text.contains("FROM district") {
            vec![3_001.into(), Value::Decimal { unscaled: 0, scale: 4 }]
        } else {
            let rate = Value::Decimal { unscaled: 0, scale: 4 };
            vec![rate.clone(), "BAR".into(), "GC".into(), rate]
        };
        Ok(vec![Row(row)])
    }
    fn run(&mut self, _: &'static Statement, _: &[Value]) -> Result<u64, Failure> {
        self.0 += 1;
        Ok(1)
    }
    fn script(&mut self, _: &str) -> Result<(), Failure> {
        Ok(())
    }
    fn ask(&mut self, _: &str) -> Result<(Vec<String>, Vec<Row>), Failure> {
        Ok((Vec::new(), Vec::new()))
    }
    fn load(
        &mut self,
        _: &Table,
        _: &mut dyn FnMut(&mut dyn Rows) -> Result<(), Failure>,
    ) -> Result<u64, Failure> {
        Ok(0)
    }
}

#[test]
fn with_fixed_lines_every_order_sends_as_many_statements_as_the_next() {
    for lines in [5, 15] {
        let tpcc = with(&[("fixed_lines", &lines.to_string())], 4.0).unwrap();
        for number in 0..2_000 {
            let mut on = Counting::default();
            let ended = tpcc.draw(0, &mut Random::at(9, &[number]), None).run(&mut on).unwrap();
            assert_eq!((ended, on.0), (Ended::Commit, 5 + 4 * lines));
        }
    }
}

#[test]
fn what_a_user_enters_depends_on_its_stream_alone() {
    let tpcc = with(&[], 4.0).unwrap();
    let order = |stream| {
        let mut random = Random::at(stream, &[]);
        let terminal = Terminal::of(4, Some(3), &mut random);
        NewOrder::draw(terminal, None, &tpcc.population.constants, &mut random)
    };
    assert_eq!(order(5), order(5));
    assert_ne!(order(5), order(6));
}

#[test]
fn the_mix_is_whole_and_read_only_types_are_marked() {
    assert_eq!(KINDS.iter().map(|kind| kind.share).sum::<f64>(), 100.0);
    let reading: Vec<_> = KINDS.iter().filter(|kind| !kind.writes).map(|kind| kind.name).collect();
    assert_eq!(reading, ["order_status", "stock_level"]);
}

#[test]
fn the_conditions_are_the_twelve_of_the_specification() {
    let names: Vec<_> = checks::CHECKS.iter().map(|check| check.name).collect();
    assert_eq!(names, (1..=12).map(|number| format!("3.3.2.{number}")).collect::<Vec<_>>());
}

#[test]
fn parts_of_warehouses_and_unknown_options_are_refused_with_what_may_be_given() {
    for scale in [0.0, 0.5, -1.0, f64::NAN, f64::INFINITY] {
        assert!(with(&[], scale).err().unwrap().0.contains("whole number from 1"), "{scale}");
    }
    assert!(with(&[("fixed_lines", "0")], 1.0).err().unwrap().0.contains("from 1 to 99"));
    assert!(with(&[("fixed_lines", "many")], 1.0).err().unwrap().0.contains("from 1 to 99"));
    let unknown = with(&[("lines", "3")], 1.0).err().unwrap().0;
    assert_eq!(unknown, "tpcc has no option lines; it has: fixed_lines");
}
