//! What goes in comes out.

use tare_load::oltp::{Column, Dialect, Index, Row, Statement, Table, Type, Value};

use crate::protocols::each;
use crate::servers::answer;
use crate::tables::{PAIR, committed, made};

static KINDS: Table = Table {
    name: "conn_kinds",
    columns: &[
        Column::new("k", Type::Int),
        Column::nullable("big", Type::BigInt),
        Column::nullable("money", Type::Decimal(12, 2)),
        Column::nullable("rate", Type::Decimal(4, 4)),
        Column::nullable("real_number", Type::Float),
        Column::nullable("padded", Type::Char(9)),
        Column::nullable("short", Type::Varchar(40)),
        Column::nullable("instant", Type::Time),
    ],
    primary_key: &["k"],
    indexes: &[
        Index { name: "conn_kinds_big", columns: &["big"], unique: false },
        Index { name: "conn_kinds_both", columns: &["k", "padded"], unique: true },
    ],
};
static INSERT: Statement = Statement::new("INSERT INTO conn_kinds VALUES ($1, $2, $3, $4, $5, $6, $7, $8)");
static SELECT: Statement = Statement::new("SELECT * FROM conn_kinds WHERE k = $1");
static BY_ALL: Statement = Statement::new(
    "SELECT k FROM conn_kinds WHERE k = $1 AND big = $2 AND money = $3 AND rate = $4 AND real_number = $5
     AND padded = $6 AND short = $7 AND instant = $8",
);

fn decimal(unscaled: i64, scale: u8) -> Value {
    Value::Decimal { unscaled, scale }
}

/// As a row is read; SQLite's exact numbers are to be read at their column's scale.
fn all_kinds(row: &Row) -> (i64, i64, i64, i64, f64, String, String, i64) {
    let int = |place| row.int(place).unwrap();
    let text = |place| row.text(place).unwrap().to_owned();
    let exact = |place, scale| row.decimal(place, scale).unwrap();
    (int(0), int(1), exact(2, 2), exact(3, 4), row.float(4).unwrap(), text(5), text(6), row.time(7).unwrap())
}

/// A row as parameters.
fn sent(key: i64, row: (i64, i64, i64, f64, &str, &str, i64)) -> Vec<Value> {
    let (big, money, rate, float, fixed, varying, instant) = row;
    vec![
        key.into(),
        big.into(),
        decimal(money, 2),
        decimal(rate, 4),
        float.into(),
        fixed.into(),
        varying.into(),
        Value::Time(instant),
    ]
}

#[test]
fn every_kind_of_value_comes_back_as_it_went() {
    each(|server| {
        let mut on = server.open();
        made(on.as_mut(), &KINDS);
        let rows = [
            (i64::MAX, 999_999_999_999, 9999, 0.1, "ninechars", "it's \\ \"ünï\"\t\n", 1_738_367_999_000_001),
            (i64::MIN + 1, -999_999_999_999, -1, -1e300, "two", "", 0),
            (0, 0, 0, 0.0, "", "x", 951_782_400_123_456),
            (-1, 1, 1000, f64::MIN_POSITIVE, "ż", "100% _", 4_102_444_800_000_000),
        ];
        for (key, row) in (1..).zip(rows) {
            assert_eq!(committed(on.as_mut(), &INSERT, &sent(key, row)), 1);
            let found = on.row(&SELECT, &[key.into()]).unwrap().unwrap();
            let (big, money, rate, float, fixed, varying, instant) = row;
            let expected = (key, big, money, rate, float, fixed.to_owned(), varying.to_owned(), instant);
            assert_eq!(all_kinds(&found), expected, "{}", server.url);
            let found = on.row(&BY_ALL, &sent(key, row)).unwrap();
            assert_eq!(found.map(|row| row.int(0).unwrap()), Some(key), "as conditions, {}", server.url);
        }
    });
}

static NULLS: Table = Table { name: "conn_nulls", indexes: &[], ..KINDS };
static INSERT_NULLS: Statement =
    Statement::new("INSERT INTO conn_nulls VALUES ($1, $2, $3, $4, $5, $6, $7, $8)");
static SELECT_NULLS: Statement = Statement::new("SELECT * FROM conn_nulls WHERE k = $1");

#[test]
fn null_is_null_in_every_kind_of_column() {
    each(|server| {
        let mut on = server.open();
        made(on.as_mut(), &NULLS);
        let mut row = vec![Value::Null; 8];
        row[0] = 1.into();
        committed(on.as_mut(), &INSERT_NULLS, &row);
        let found = on.row(&SELECT_NULLS, &[1.into()]).unwrap().unwrap();
        assert!((1..8).all(|place| found.is_null(place)), "{found:?}");
        assert_eq!(on.row(&SELECT_NULLS, &[2.into()]).unwrap(), None, "no row is no NULL");
        let (names, asked) = on.ask("SELECT k, big FROM conn_nulls").unwrap();
        assert_eq!(names, ["k", "big"]);
        assert!(asked[0].is_null(1));
    });
}

static SUMMED: Table = Table { name: "conn_summed", indexes: &[], ..KINDS };
static INSERT_SUMMED: Statement =
    Statement::new("INSERT INTO conn_summed VALUES ($1, $2, $3, $4, $5, $6, $7, $8)");
static SUMS: Statement = Statement::new(
    "SELECT count(*), sum(big), sum(money), min(instant), max(padded), sum(k) FROM conn_summed",
);

#[test]
fn sums_and_counts_are_exact() {
    each(|server| {
        let mut on = server.open();
        made(on.as_mut(), &SUMMED);
        for key in 1..=3 {
            let row = (1 << 40, 333_333_333, 0, 0.0, "c", "", 1_000_001);
            committed(on.as_mut(), &INSERT_SUMMED, &sent(key, row));
        }
        let row = on.row(&SUMS, &[]).unwrap().unwrap();
        let found = (row.int(0), row.int(1), row.decimal(2, 2), row.time(3), row.int(5));
        assert_eq!(
            (found.0.unwrap(), found.1.unwrap(), found.2.unwrap(), found.3.unwrap(), found.4.unwrap()),
            (3, 3 << 40, 999_999_999, 1_000_001, 6)
        );
        assert_eq!(row.text(4).unwrap(), "c", "without its padding");
    });
}

#[test]
fn a_number_that_does_not_fit_is_refused_and_the_connection_goes_on() {
    each(|server| {
        let mut on = server.open();
        if on.dialect() == Dialect::Sqlite {
            return; // its columns are as wide as a value
        }
        on.begin(false).unwrap();
        assert!(on.rows(&SELECT_WIDE, &[Value::Int(1 << 40)]).is_err() || on.dialect() == Dialect::MariaDb);
        on.rollback().unwrap();
        assert_eq!(answer(on.as_mut(), "SELECT 1"), "1");
    });
}

static SELECT_WIDE: Statement =
    Statement::new("SELECT CAST($1 AS integer)").mariadb("SELECT CAST($1 AS signed)");

static PURSE: Table = Table {
    name: "conn_purse",
    columns: &[Column::new("k", Type::Int), Column::nullable("money", Type::Decimal(18, 2))],
    primary_key: &["k"],
    indexes: &[],
};
static PUT: Statement = Statement::new("INSERT INTO conn_purse VALUES ($1, $2)");
static ADD: Statement =
    Statement::new("UPDATE conn_purse SET money = coalesce(money, 0) + $2 - $3 WHERE k = $1");
static COUNTED: Statement =
    Statement::new("SELECT money FROM conn_purse WHERE k = $1 AND money > $2 AND $2 < money");

#[test]
fn money_is_added_without_a_floating_point() {
    each(|server| {
        let mut on = server.open();
        made(on.as_mut(), &PURSE);
        let most = 999_999_999_999_999_900; // 2^53 does not hold it
        committed(on.as_mut(), &PUT, &[1.into(), Value::Null]);
        committed(on.as_mut(), &PUT, &[2.into(), decimal(most, 2)]);
        for key in [1, 2] {
            committed(on.as_mut(), &ADD, &[key.into(), decimal(30, 2), decimal(10, 2)]);
        }
        let counted = |on: &mut dyn tare_load::oltp::Connection, key: i64, above: i64| {
            on.row(&COUNTED, &[key.into(), decimal(above, 2)]).unwrap().map(|row| row.decimal(0, 2).unwrap())
        };
        assert_eq!(counted(on.as_mut(), 1, 19), Some(20));
        assert_eq!(counted(on.as_mut(), 2, most + 19), Some(most + 20));
        assert_eq!(counted(on.as_mut(), 2, most + 20), None);
    });
}

static PICKED: Statement =
    Statement::new("SELECT k, '$1 it''s' FROM conn_picked WHERE k IN ($10, $11, $2) AND v = $1");
static PICKED_TABLE: Table = Table { name: "conn_picked", columns: PAIR, primary_key: &["k"], indexes: &[] };
static PICKED_INSERT: Statement = Statement::new("INSERT INTO conn_picked (v, k) VALUES ($2, $1)");

#[test]
fn parameters_are_known_by_their_number() {
    each(|server| {
        let mut on = server.open();
        made(on.as_mut(), &PICKED_TABLE);
        for key in 0..20 {
            committed(on.as_mut(), &PICKED_INSERT, &[key.into(), "same".into()]);
        }
        static BY_TWO: Statement =
            Statement::new("SELECT k FROM conn_picked WHERE v = $2 AND k = $1 AND v = $2");
        let found = on.row(&BY_TWO, &[7.into(), "same".into()]).unwrap().unwrap();
        assert_eq!(found.int(0).unwrap(), 7);
        on.begin(true).unwrap();
        let mut given = vec![Value::from("same"), 5.into()];
        given.extend((3..=11).map(Value::from));
        if on.dialect() == Dialect::PostgreSql {
            return on.rollback().unwrap(); // it wants a use for each number up to the highest
        }
        let found = on.rows(&PICKED, &given).unwrap();
        on.commit().unwrap();
        let keys: Vec<_> = found.iter().map(|row| row.int(0).unwrap()).collect();
        assert_eq!(keys, [5, 10, 11]);
        assert_eq!(found[0].text(1).unwrap(), "$1 it's");
    });
}

static LINES: Table = Table { name: "conn_lines", indexes: &[], ..KINDS };
static INSERT_LINE: Statement =
    Statement::new("INSERT INTO conn_lines VALUES ($1, $2, $3, $4, $5, $6, $7, $8)");

#[test]
fn rows_of_a_batch_keep_their_own_values_and_nulls() {
    each(|server| {
        let mut on = server.open();
        made(on.as_mut(), &LINES);
        let row = |key: i64, instant: Value| {
            let mut row = sent(key, (key << 33, key * 101, key, 0.5, "ab", "it's", 0));
            row[7] = instant;
            row
        };
        let instants = |key: i64| if key < 5 { Value::Null } else { Value::Time(key) };
        let work: Vec<_> = (1..=10).map(|key| (&INSERT_LINE, row(key, instants(key)))).collect();
        on.begin(true).unwrap();
        assert_eq!(on.batch(&work).unwrap(), [1; 10]);
        on.commit().unwrap();
        for key in 1..=10 {
            static READ: Statement =
                Statement::new("SELECT big, money, instant FROM conn_lines WHERE k = $1");
            let found = on.row(&READ, &[key.into()]).unwrap().unwrap();
            assert_eq!((found.int(0).unwrap(), found.decimal(1, 2).unwrap()), (key << 33, key * 101));
            assert_eq!(found.is_null(2), key < 5);
        }
    });
}
