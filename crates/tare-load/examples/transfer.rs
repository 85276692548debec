//! The smallest whole workload: money moves between two accounts, and none is lost.
//!
//! `cargo run -p tare-load --example transfer transfer.db` loads it into a new SQLite file, runs it and checks it.

use std::time::Duration;

use tare_load::oltp::{
    Check, Column, Connection, Ended, Failure, Isolation, Kind, Part, Random, Rows, Statement, Table,
    Transaction, Type, Value, Workload, ddl, sqlite,
};

static TABLES: &[Table] = &[Table {
    name: "account",
    columns: &[Column::new("id", Type::Int), Column::new("balance", Type::BigInt)],
    primary_key: &["id"],
    indexes: &[],
}];

static KINDS: &[Kind] = &[Kind { name: "transfer", share: 100.0, writes: true, keying_s: 0.0, think_s: 0.0 }];

static CHECKS: &[Check] = &[Check {
    name: "none_lost",
    says: "all balances together are what they were at first, 1000 an account",
    failing: Statement::new(
        "SELECT accounts, total FROM (SELECT count(*) AS accounts, sum(balance) AS total FROM account) summed \
         WHERE total <> 1000 * accounts",
    ),
}];

static TAKE: Statement =
    Statement::new("UPDATE account SET balance = balance - $1 WHERE id = $2 AND balance >= $1");
static GIVE: Statement = Statement::new("UPDATE account SET balance = balance + $1 WHERE id = $2");

/// Parameters, drawn once: a transaction that is tried again is the same one.
struct Transfer {
    from: i64,
    to: i64,
    amount: i64,
}

impl Transaction for Transfer {
    /// Rolls back where there is not enough to take.
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        if on.run(&TAKE, &[self.amount, self.from].map(Value::Int))? == 0 {
            return Ok(Ended::RollBack);
        }
        on.run(&GIVE, &[self.amount, self.to].map(Value::Int))?;
        Ok(Ended::Commit)
    }
}

/// Scale 1 is 100 accounts.
struct Transfers {
    scale: f64,
}

impl Transfers {
    fn accounts(&self) -> i64 {
        (self.scale * 100.0).round() as i64
    }
}

impl Workload for Transfers {
    fn name(&self) -> &'static str {
        "transfer"
    }

    fn scale(&self) -> f64 {
        self.scale
    }

    fn kinds(&self) -> &'static [Kind] {
        KINDS
    }

    fn tables(&self) -> &'static [Table] {
        TABLES
    }

    fn parts(&self) -> Vec<Part> {
        vec![Part { table: 0, number: 0, rows: self.accounts() as u64 }]
    }

    fn fill(&self, _part: Part, rows: &mut dyn Rows) -> Result<(), Failure> {
        (1..=self.accounts()).try_for_each(|id| {
            rows.int(id);
            rows.int(1000);
            rows.end()
        })
    }

    fn draw(&self, _kind: usize, random: &mut Random, _home: Option<u64>) -> Box<dyn Transaction> {
        let mut account = || random.between(1, self.accounts());
        let (from, to) = (account(), account());
        Box::new(Transfer { from, to, amount: random.between(1, 500) })
    }

    fn checks(&self) -> &'static [Check] {
        CHECKS
    }
}

/// What the driver does with it, in short.
fn main() -> Result<(), Failure> {
    let file = std::env::args().nth(1).expect("an SQLite file to make");
    std::fs::File::create_new(&file).unwrap_or_else(|error| panic!("cannot make {file}: {error}"));
    let url = format!("sqlite:///{file}");
    let mut on = sqlite::connect(&url, Isolation::Serializable, Duration::from_secs(10))?;
    let transfers = Transfers { scale: 1.0 };
    for part in transfers.parts() {
        let table = &transfers.tables()[part.table];
        on.script(&ddl::create(table, on.dialect()))?;
        on.load(table, &mut |rows| transfers.fill(part, rows))?;
    }
    for arrival in 0..1000 {
        let transfer = transfers.draw(0, &mut Random::at(1, &[arrival]), None);
        on.begin(true)?;
        match transfer.run(&mut *on)? {
            Ended::Commit => on.commit()?,
            Ended::RollBack => on.rollback()?,
        }
    }
    for check in transfers.checks() {
        let (_, failing) = on.ask(&check.failing.text(on.dialect()))?;
        println!("{}: {} rows fail", check.name, failing.len());
    }
    Ok(())
}
