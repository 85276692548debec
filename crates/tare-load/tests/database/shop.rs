//! A tiny workload: shops, their sales, and two conditions.

use std::collections::BTreeMap;

use tare_load::oltp::{
    Check, Column, Ended, Failure, Index, Kind, Part, Random, Rows, Statement, Table, Transaction, Trouble,
    Type, Workload,
};

pub const SHOPS: u64 = 4;
pub const SALES: u64 = 3_000;

/// Where a load is to break.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Breaks {
    Nowhere,
    /// The generator gives up.
    Generator,
    /// A key comes twice.
    Key,
    /// The server goes away.
    Server,
}

pub struct Shop(pub Breaks);

static TABLES: [Table; 2] = [
    Table {
        name: "db_shops",
        columns: &[
            Column::new("shop", Type::Int),
            Column::new("name", Type::Varchar(40)),
            Column::nullable("opened", Type::Time),
        ],
        primary_key: &["shop"],
        indexes: &[],
    },
    Table {
        name: "db_sales",
        columns: &[
            Column::new("shop", Type::Int),
            Column::new("number", Type::Int),
            Column::new("amount", Type::Decimal(8, 2)),
            Column::new("note", Type::Varchar(40)),
        ],
        primary_key: &["shop", "number"],
        indexes: &[Index { name: "db_sales_note", columns: &["note", "number", "shop"], unique: true }],
    },
];

static CHECKS: [Check; 2] = [
    Check {
        name: "named",
        says: "every shop has a name",
        failing: Statement::new("SELECT shop, name FROM db_shops WHERE name = ''"),
    },
    Check {
        name: "paid",
        says: "no sale of a shop is free",
        failing: Statement::new(
            "SELECT shop, number, amount FROM db_sales WHERE amount = 0 ORDER BY shop, number",
        ),
    },
];

pub fn note(number: u64) -> String {
    format!("{}\t{number}\\", ["it's", "żółć", "a\nb", "\\N"][(number % 4) as usize])
}

struct Nothing;

impl Transaction for Nothing {
    fn run(&self, _on: &mut dyn tare_load::oltp::Connection) -> Result<Ended, Failure> {
        Ok(Ended::Commit)
    }
}

impl Workload for Shop {
    fn name(&self) -> &'static str {
        "shop"
    }

    fn scale(&self) -> f64 {
        SHOPS as f64
    }

    fn kinds(&self) -> &'static [Kind] {
        &[]
    }

    fn tables(&self) -> &'static [Table] {
        &TABLES
    }

    fn parts(&self) -> Vec<Part> {
        let shops = Part { table: 0, number: 0, rows: SHOPS };
        std::iter::once(shops)
            .chain((0..SHOPS).map(|number| Part { table: 1, number, rows: SALES }))
            .collect()
    }

    fn fill(&self, part: Part, rows: &mut dyn Rows) -> Result<(), Failure> {
        if part.table == 0 {
            return (0..SHOPS).try_for_each(|shop| {
                rows.int(shop as i64);
                rows.text(&format!("shop {shop}"));
                if shop == 0 {
                    rows.null();
                } else {
                    rows.time(shop as i64 * 1_000_001);
                }
                rows.end()
            });
        }
        for number in 0..SALES {
            let last = part.number + 1 == SHOPS && number + 1 == SALES;
            if last && self.0 == Breaks::Generator {
                return Err(Failure::foreign("the generator is broken"));
            }
            if last && self.0 == Breaks::Server {
                return Err(Failure::new(Trouble::Lost, "the server went away"));
            }
            rows.int(part.number as i64);
            rows.int(if last && self.0 == Breaks::Key { 0 } else { number as i64 });
            rows.decimal(if number % 1000 == 999 { 0 } else { 1999 }, 2);
            rows.text(&note(number));
            rows.end()?;
        }
        Ok(())
    }

    fn draw(&self, _kind: usize, _random: &mut Random, _home: Option<u64>) -> Box<dyn Transaction> {
        Box::new(Nothing)
    }

    fn checks(&self) -> &'static [Check] {
        &CHECKS
    }
}

pub fn options() -> BTreeMap<String, String> {
    BTreeMap::from([("size".to_owned(), "it's \"10\"".to_owned())])
}
