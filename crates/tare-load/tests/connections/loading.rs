//! The fast way in: all rows or none.

use tare_load::oltp::{Dialect, Failure, Rows, Table, Trouble};

use crate::protocols::each;
use crate::servers::answer;
use crate::tables::{made, pairs};

const ROWS: i64 = 10_000;

/// Made of what ends fields, lines and literals, and of characters of one to four bytes.
fn awkward(number: i64) -> String {
    const PIECES: [&str; 12] = ["\t", "\n", "\r", "\\", "\\N", "\\.", "'", "\"", "ä", "語", "🦀", ","];
    let piece = |place: u32| PIECES[(number / 12_i64.pow(place) % 12) as usize];
    format!("{}{}{number}{}{}", piece(0), piece(1), piece(2), piece(3))
}

fn fill(rows: &mut dyn Rows, numbers: impl Iterator<Item = i64>) -> Result<(), Failure> {
    for number in numbers {
        rows.int(number);
        if number % 100 == 7 {
            rows.null();
        } else {
            rows.text(&awkward(number));
        }
        rows.end()?;
    }
    Ok(())
}

#[test]
fn awkward_texts_arrive_as_they_are() {
    static TABLE: Table = pairs("conn_awkward");
    each(|server| {
        let mut on = server.open();
        made(on.as_mut(), &TABLE);
        assert_eq!(on.load(&TABLE, &mut |rows| fill(rows, 0..ROWS)).unwrap(), ROWS as u64);
        let (_, rows) = on.ask("SELECT v FROM conn_awkward ORDER BY k").unwrap();
        assert_eq!(rows.len(), ROWS as usize);
        for (number, row) in (0..).zip(&rows) {
            match number % 100 {
                7 => assert!(row.is_null(0), "{number}"),
                _ => assert_eq!(row.text(0).unwrap(), awkward(number)),
            }
        }
    });
}

#[test]
fn a_load_whose_last_row_is_refused_leaves_nothing() {
    static TABLE: Table = pairs("conn_refused");
    each(|server| {
        let mut on = server.open();
        made(on.as_mut(), &TABLE);
        let failure = on.load(&TABLE, &mut |rows| fill(rows, (0..ROWS).chain([0]))).unwrap_err();
        assert!(!failure.text.is_empty());
        assert_eq!(answer(on.as_mut(), "SELECT count(*) FROM conn_refused"), "0");
    });
}

#[test]
fn a_load_refused_early_ends_early() {
    static TABLE: Table = pairs("conn_early");
    each(|server| {
        let mut on = server.open();
        if on.dialect() == Dialect::MariaDb {
            return; // LOAD DATA LOCAL reads to the end, and tells then
        }
        made(on.as_mut(), &TABLE);
        let mut written = 0;
        let endless = [1].into_iter().chain(1..10_000_000).inspect(|_| written += 1);
        let mut endless = Some(endless);
        let loaded = on.load(&TABLE, &mut |rows| fill(rows, endless.take().unwrap()));
        assert!(loaded.is_err());
        drop(endless);
        assert!(written < 5_000_000, "{written} rows were made for nothing");
        assert_eq!(answer(on.as_mut(), "SELECT count(*) FROM conn_early"), "0");
    });
}

#[test]
fn a_server_that_talks_during_a_load_does_not_stop_it() {
    static TABLE: Table = pairs("conn_talks");
    each(|server| {
        let mut on = server.open();
        if on.dialect() != Dialect::PostgreSql {
            return; // no other says anything before the end
        }
        made(on.as_mut(), &TABLE);
        on.script(
            "CREATE OR REPLACE FUNCTION conn_talk() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN IF NEW.k % 1000 = 0 THEN RAISE WARNING 'row %', NEW.k; END IF; RETURN NEW; END $$;
             CREATE TRIGGER conn_talk BEFORE INSERT ON conn_talks FOR EACH ROW EXECUTE FUNCTION conn_talk()",
        )
        .unwrap();
        assert_eq!(on.load(&TABLE, &mut |rows| fill(rows, 0..ROWS * 5)).unwrap(), 5 * ROWS as u64);
        assert_eq!(answer(on.as_mut(), "SELECT count(*) FROM conn_talks"), (5 * ROWS).to_string());
        on.script("DROP TABLE conn_talks; DROP FUNCTION conn_talk").unwrap();
    });
}

#[test]
fn rows_that_cannot_be_made_leave_nothing() {
    static TABLE: Table = pairs("conn_unmade");
    each(|server| {
        let mut on = server.open();
        made(on.as_mut(), &TABLE);
        let failure = on
            .load(&TABLE, &mut |rows| {
                fill(rows, 0..ROWS).and(Err(Failure::foreign("the generator is broken")))
            })
            .unwrap_err();
        assert_eq!(failure.text, "the generator is broken");
        assert_eq!(answer(on.as_mut(), "SELECT count(*) FROM conn_unmade"), "0");
        assert_eq!(on.load(&TABLE, &mut |rows| fill(rows, 0..10)).unwrap(), 10, "and the connection goes on");
    });
}

#[test]
fn a_table_that_is_not_there_cannot_be_loaded() {
    static TABLE: Table = pairs("conn_missing");
    each(|server| {
        let mut on = server.open();
        let text = on.load(&TABLE, &mut |rows| fill(rows, 0..10)).unwrap_err().text;
        assert!(text.contains("conn_missing"), "{text}");
        assert_eq!(answer(on.as_mut(), "SELECT 1"), "1");
    });
}

#[test]
fn a_mariadb_that_takes_no_local_files_is_loaded_by_inserts() {
    static TABLE: Table = pairs("conn_inserted");
    each(|server| {
        let mut on = server.open();
        if on.dialect() != Dialect::MariaDb {
            return;
        }
        made(on.as_mut(), &TABLE);
        on.script("SET GLOBAL local_infile = 0").unwrap();
        let loaded = on.load(&TABLE, &mut |rows| fill(rows, 0..ROWS));
        let failure =
            on.load(&TABLE, &mut |rows| fill(rows, ROWS..ROWS + 10).and(fill(rows, [0].into_iter())));
        on.script("SET GLOBAL local_infile = 1").unwrap();
        assert_eq!(loaded.unwrap(), ROWS as u64);
        assert_eq!(failure.unwrap_err().trouble, Trouble::Duplicate);
        let (_, rows) = on.ask("SELECT v FROM conn_inserted ORDER BY k").unwrap();
        assert_eq!(rows.len(), ROWS as usize);
        for (number, row) in (0..).zip(&rows).filter(|(number, _)| number % 100 != 7) {
            assert_eq!(row.text(0).unwrap(), awkward(number));
        }
    });
}

#[test]
fn a_text_that_does_not_fit_is_refused_not_shortened() {
    static TABLE: Table = pairs("conn_long");
    each(|server| {
        let mut on = server.open();
        if on.dialect() == Dialect::Sqlite {
            return; // its columns are as wide as a value
        }
        made(on.as_mut(), &TABLE);
        let long = "x".repeat(2001);
        let loaded = on.load(&TABLE, &mut |rows| {
            rows.int(1);
            rows.text(&long);
            rows.end()
        });
        assert_eq!(loaded.unwrap_err().trouble, Trouble::Error);
        assert_eq!(answer(on.as_mut(), "SELECT count(*) FROM conn_long"), "0");
    });
}

#[test]
fn a_row_of_too_few_fields_is_refused() {
    static TABLE: Table = pairs("conn_short");
    each(|server| {
        let mut on = server.open();
        made(on.as_mut(), &TABLE);
        let loaded = on.load(&TABLE, &mut |rows| {
            rows.int(1);
            rows.end()
        });
        assert!(loaded.is_err());
        assert_eq!(answer(on.as_mut(), "SELECT count(*) FROM conn_short"), "0");
    });
}
