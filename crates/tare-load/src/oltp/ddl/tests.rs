use super::*;

const ALL: [Dialect; 3] = [Dialect::PostgreSql, Dialect::MariaDb, Dialect::Sqlite];

static ORDERS: Table = Table {
    name: "orders",
    columns: &[
        Column::new("shop", Type::Int),
        Column::new("number", Type::BigInt),
        Column::new("total", Type::Decimal(12, 2)),
        Column::new("weight", Type::Float),
        Column::new("state", Type::Char(2)),
        Column::nullable("note", Type::Varchar(24)),
        Column::nullable("sent_at", Type::Time),
    ],
    primary_key: &["shop", "number"],
    indexes: &[
        Index { name: "orders_by_state", columns: &["state", "sent_at"], unique: false },
        Index { name: "orders_by_note", columns: &["note"], unique: true },
    ],
};

#[test]
fn a_table_in_postgresqls_words() {
    let expected = "\
CREATE TABLE orders (
  shop integer NOT NULL,
  number bigint NOT NULL,
  total numeric(12, 2) NOT NULL,
  weight double precision NOT NULL,
  state char(2) COLLATE \"C\" NOT NULL,
  note varchar(24) COLLATE \"C\",
  sent_at timestamp
)";
    assert_eq!(create(&ORDERS, Dialect::PostgreSql), expected);
    let expected = [
        "ALTER TABLE orders ADD CONSTRAINT orders_pkey PRIMARY KEY (shop, number)",
        "CREATE INDEX orders_by_state ON orders (state, sent_at)",
        "CREATE UNIQUE INDEX orders_by_note ON orders (note)",
        "VACUUM (ANALYZE) orders",
    ];
    assert_eq!(complete(&ORDERS, Dialect::PostgreSql), expected);
}

#[test]
fn a_table_in_mariadbs_words() {
    let expected = "\
CREATE TABLE orders (
  shop int NOT NULL,
  number bigint NOT NULL,
  total decimal(12, 2) NOT NULL,
  weight double NOT NULL,
  state char(2) NOT NULL,
  note varchar(24),
  sent_at datetime(6),
  PRIMARY KEY (shop, number)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin";
    assert_eq!(create(&ORDERS, Dialect::MariaDb), expected);
    let expected = [
        "ALTER TABLE orders ADD INDEX orders_by_state (state, sent_at), ADD UNIQUE INDEX orders_by_note (note)",
        "ANALYZE TABLE orders",
    ];
    assert_eq!(complete(&ORDERS, Dialect::MariaDb), expected);
}

#[test]
fn a_table_in_sqlites_words() {
    let expected = "\
CREATE TABLE orders (
  shop INTEGER NOT NULL,
  number INTEGER NOT NULL,
  total INTEGER NOT NULL,
  weight REAL NOT NULL,
  state TEXT NOT NULL,
  note TEXT,
  sent_at INTEGER,
  PRIMARY KEY (shop, number)
) WITHOUT ROWID";
    assert_eq!(create(&ORDERS, Dialect::Sqlite), expected);
    let expected = [
        "CREATE INDEX orders_by_state ON orders (state, sent_at)",
        "CREATE UNIQUE INDEX orders_by_note ON orders (note)",
        "ANALYZE orders",
    ];
    assert_eq!(complete(&ORDERS, Dialect::Sqlite), expected);
}

#[test]
fn a_table_without_keys_has_none_anywhere() {
    let history = Table { primary_key: &[], indexes: &[], ..ORDERS };
    for dialect in ALL {
        assert!(!create(&history, dialect).contains("KEY"), "{dialect:?}");
        assert!(!create(&history, dialect).contains("ROWID"), "{dialect:?}");
        assert_eq!(complete(&history, dialect).len(), 1, "statistics alone: {dialect:?}");
    }
}

#[test]
fn sqlite_keeps_wide_rows_and_numbered_ones_out_of_the_keys_tree() {
    let by_number = Table { primary_key: &["number"], ..ORDERS };
    let by_text = Table { primary_key: &["state"], ..ORDERS };
    const WIDE: &[Column] = &[Column::new("k", Type::Int), Column::new("l", Type::Char(500))];
    let wide = Table { columns: WIDE, primary_key: &["k", "l"], ..ORDERS };
    assert!(!create(&by_number, Dialect::Sqlite).contains("ROWID"));
    assert!(create(&by_text, Dialect::Sqlite).contains("ROWID"));
    assert!(!create(&wide, Dialect::Sqlite).contains("ROWID"));
}
