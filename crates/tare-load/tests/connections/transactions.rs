//! BEGIN … COMMIT, statements in it one by one and in batches, and what becomes of them.

use std::sync::mpsc;
use std::thread;

use tare_load::oltp::{Connection, Dialect, Isolation, Statement, Table, Trouble, Value};

use crate::protocols::each;
use crate::servers::{Server, answer};
use crate::tables::{has_row_locks, made, pairs};

macro_rules! statements {
    ($table:literal) => {
        static TABLE: Table = pairs($table);
        static INSERT: Statement = Statement::new(concat!("INSERT INTO ", $table, " VALUES ($1, $2)"));
        static UPDATE: Statement = Statement::new(concat!("UPDATE ", $table, " SET v = $2 WHERE k = $1"));
        static READ: Statement = Statement::new(concat!("SELECT v FROM ", $table, " WHERE k = $1"));
        static LOCK: Statement =
            Statement::new(concat!("SELECT v FROM ", $table, " WHERE k = $1 FOR UPDATE"));
        const COUNT: &str = concat!("SELECT count(*) FROM ", $table);
        let _ = (&INSERT, &UPDATE, &READ, &LOCK, COUNT);
    };
}

fn pair(key: i64, text: &str) -> Vec<Value> {
    vec![key.into(), text.into()]
}

fn text(on: &mut dyn Connection, statement: &'static Statement, key: i64) -> String {
    on.row(statement, &[key.into()]).unwrap().unwrap().text(0).unwrap().to_owned()
}

#[test]
fn what_is_rolled_back_was_never_there() {
    statements!("conn_rolled");
    each(|server| {
        let mut on = server.open();
        made(on.as_mut(), &TABLE);
        on.begin(true).unwrap();
        assert_eq!(on.run(&INSERT, &pair(1, "a")).unwrap(), 1);
        on.rollback().unwrap();
        on.begin(true).unwrap();
        on.commit().unwrap();
        on.begin(true).unwrap();
        on.rollback().unwrap();
        assert_eq!(answer(on.as_mut(), COUNT), "0");
    });
}

#[test]
fn a_statement_alone_is_committed_by_itself_and_costs_one_round_trip() {
    statements!("conn_alone");
    each(|server| {
        let mut on = server.open();
        made(on.as_mut(), &TABLE);
        let alone = |on: &mut dyn Connection, key: i64| {
            let before = on.round_trips();
            on.begin_alone(true).unwrap();
            on.run(&INSERT, &pair(key, "a")).unwrap();
            assert_eq!(answer(server.open().as_mut(), COUNT), key.to_string(), "seen before `commit`");
            on.commit().unwrap();
            on.round_trips() - before
        };
        alone(on.as_mut(), 1); // prepares
        let in_process = on.dialect() == Dialect::Sqlite;
        assert_eq!(alone(on.as_mut(), 2), if in_process { 0 } else { 1 });
        on.begin_alone(true).unwrap();
        assert_eq!(on.run(&INSERT, &pair(2, "b")).unwrap_err().trouble, Trouble::Duplicate);
        on.rollback().unwrap();
        on.begin(true).unwrap();
        on.run(&INSERT, &pair(3, "c")).unwrap();
        on.rollback().unwrap();
        assert_eq!(answer(on.as_mut(), COUNT), "2", "several statements are a transaction again");
    });
}

#[test]
fn what_is_committed_is_seen_by_others() {
    statements!("conn_committed");
    each(|server| {
        let mut on = server.open();
        made(on.as_mut(), &TABLE);
        on.begin(true).unwrap();
        on.run(&INSERT, &pair(1, "a")).unwrap();
        assert_eq!(text(on.as_mut(), &LOCK, 1), "a", "its own before the end");
        on.commit().unwrap();
        assert_eq!(answer(server.open().as_mut(), COUNT), "1");
    });
}

#[test]
fn a_batch_is_done_in_its_order() {
    statements!("conn_batch");
    each(|server| {
        let mut on = server.open();
        made(on.as_mut(), &TABLE);
        let long = "x".repeat(1000);
        let mut work: Vec<_> = (0..500).map(|key| (&INSERT, pair(key, &long))).collect();
        work.push((&UPDATE, pair(1, "first")));
        work.push((&UPDATE, pair(1, "last")));
        work.push((&UPDATE, pair(-1, "none")));
        on.begin(true).unwrap();
        let changed = on.batch(&work).unwrap();
        assert_eq!(changed, [vec![1; 502], vec![0]].concat());
        assert_eq!(text(on.as_mut(), &READ, 1), "last");
        assert_eq!(on.batch(&[]).unwrap(), [0_u64; 0]);
        on.commit().unwrap();
        assert_eq!(answer(on.as_mut(), COUNT), "500");
    });
}

#[test]
fn a_batch_ends_with_its_first_failure() {
    statements!("conn_broken");
    each(|server| {
        let mut on = server.open();
        made(on.as_mut(), &TABLE);
        on.begin(true).unwrap();
        let work = [(&INSERT, pair(1, "a")), (&INSERT, pair(1, "b")), (&INSERT, pair(2, "c"))];
        assert_eq!(on.batch(&work).unwrap_err().trouble, Trouble::Duplicate);
        on.rollback().unwrap();
        assert_eq!(answer(on.as_mut(), COUNT), "0");
        on.begin(true).unwrap();
        assert_eq!(on.batch(&work[2..]).unwrap(), [1]);
        on.commit().unwrap();
        assert_eq!(answer(on.as_mut(), COUNT), "1");
    });
}

#[test]
fn a_duplicate_in_the_first_statement_is_rolled_back_like_any_other() {
    statements!("conn_twice");
    each(|server| {
        let mut on = server.open();
        made(on.as_mut(), &TABLE);
        for expected in [None, Some(Trouble::Duplicate), Some(Trouble::Duplicate)] {
            on.begin(true).unwrap();
            let outcome = on.run(&INSERT, &pair(1, "a"));
            assert_eq!(outcome.as_ref().err().map(|failure| failure.trouble), expected);
            if outcome.is_ok() { on.commit().unwrap() } else { on.rollback().unwrap() }
        }
        assert_eq!(answer(on.as_mut(), COUNT), "1");
    });
}

#[test]
fn a_deadlock_is_told_to_one_of_the_two() {
    statements!("conn_deadlock");
    /// Locks one row, waits until the other has its own, then wants that.
    fn cross(
        mut on: Box<dyn Connection>,
        keys: [i64; 2],
        tell: &mpsc::Sender<()>,
        heard: &mpsc::Receiver<()>,
    ) -> Option<Trouble> {
        static LOCK: Statement = Statement::new("SELECT v FROM conn_deadlock WHERE k = $1 FOR UPDATE");
        on.begin(true).unwrap();
        on.rows(&LOCK, &[keys[0].into()]).unwrap();
        tell.send(()).unwrap();
        heard.recv().unwrap();
        let outcome = on.rows(&LOCK, &[keys[1].into()]);
        match &outcome {
            Ok(_) => on.commit().unwrap(),
            Err(_) => on.rollback().unwrap(),
        }
        outcome.err().map(|failure| failure.trouble)
    }
    each(|server| {
        let mut on = server.open();
        if !has_row_locks(on.as_ref()) {
            return;
        }
        made(on.as_mut(), &TABLE);
        on.begin(true).unwrap();
        on.batch(&[(&INSERT, pair(1, "a")), (&INSERT, pair(2, "b"))]).unwrap();
        on.commit().unwrap();
        let (to_other, from_here) = mpsc::channel();
        let (to_here, from_other) = mpsc::channel();
        let second = server.open();
        let other = thread::spawn(move || cross(second, [2, 1], &to_here, &from_here));
        let here = cross(on, [1, 2], &to_other, &from_other);
        let mut outcomes = [here, other.join().unwrap()];
        outcomes.sort();
        assert_eq!(outcomes, [None, Some(Trouble::Deadlock)]);
    });
}

#[test]
fn what_has_no_serial_order_is_told() {
    statements!("conn_serial");
    each(|server| {
        let mut first = server.open_at(Isolation::Serializable);
        if first.dialect() != Dialect::PostgreSql {
            return; // the others lock, so such transactions deadlock or wait
        }
        made(first.as_mut(), &TABLE);
        first.begin(true).unwrap();
        first.batch(&[(&INSERT, pair(1, "a")), (&INSERT, pair(2, "b"))]).unwrap();
        first.commit().unwrap();
        let mut second = server.open_at(Isolation::Serializable);
        first.begin(true).unwrap();
        second.begin(true).unwrap();
        text(first.as_mut(), &READ, 1);
        text(second.as_mut(), &READ, 2);
        first.run(&UPDATE, &pair(2, "c")).unwrap();
        let skewed = second.run(&UPDATE, &pair(1, "d")).and_then(|_| {
            first.commit()?;
            second.commit()
        });
        assert_eq!(skewed.unwrap_err().trouble, Trouble::Serialization);
        second.rollback().unwrap();
        second.begin(true).unwrap();
        assert_eq!(second.run(&UPDATE, &pair(1, "e")).unwrap(), 1, "and it goes on");
        second.commit().unwrap();
    });
}

#[test]
fn a_connection_says_what_it_is_connected_to() {
    each(|server| {
        for isolation in [Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable] {
            let mut on = server.open_at(isolation);
            let (name, level) = on.described().unwrap();
            assert!(name.chars().any(|character| character.is_ascii_digit()), "{name}");
            if on.dialect() == Dialect::Sqlite {
                assert!(level.starts_with("serializable"), "{level}");
            } else {
                let expected = format!("{isolation:?}").to_lowercase();
                assert!(level.to_lowercase().replace([' ', '-', '_'], "").starts_with(&expected), "{level}");
            }
        }
    });
}

#[test]
fn a_postgresql_session_looks_after_its_client_and_waits_no_longer_than_it_should() {
    each(|server| {
        let mut on = server.open();
        if on.dialect() == Dialect::PostgreSql && server.protocol.is_none() {
            assert_eq!(answer(on.as_mut(), "SHOW client_connection_check_interval"), "1s", "from 14 on");
            assert_eq!(answer(on.as_mut(), "SHOW lock_timeout"), "10s");
            assert_eq!(answer(on.as_mut(), "SHOW statement_timeout"), "0");
            assert_eq!(answer(on.as_mut(), "SHOW application_name"), "tare oltp");
        }
    });
}

#[test]
fn a_mariadb_session_is_as_the_driver_needs_it() {
    each(|server| {
        let mut on = server.open();
        if on.dialect() != Dialect::MariaDb {
            return;
        }
        let expected = [
            ("innodb_lock_wait_timeout", "10"),
            ("lock_wait_timeout", "60"),
            ("autocommit", "0"),
            ("time_zone", "+00:00"),
            ("character_set_connection", "utf8mb4"),
        ];
        for (name, value) in expected {
            assert_eq!(answer(on.as_mut(), &format!("SELECT @@SESSION.{name}")), value, "{name}");
        }
    });
}

/// A connection, and what ends its session.
fn session(server: &Server) -> (Box<dyn Connection>, String) {
    let mut on = server.open();
    let (own, kill) = match on.dialect() {
        Dialect::PostgreSql => ("SELECT pg_backend_pid()", "SELECT pg_terminate_backend({})"),
        Dialect::MariaDb => ("SELECT connection_id()", "KILL {}"),
        Dialect::Sqlite => unreachable!("it has no server"),
    };
    let id = answer(on.as_mut(), own);
    (on, kill.replace("{}", &id))
}

#[test]
fn a_killed_session_is_lost_for_good_and_says_so() {
    statements!("conn_killed");
    each(|server| {
        let mut other = server.open();
        if !has_row_locks(other.as_ref()) {
            return;
        }
        made(other.as_mut(), &TABLE);
        let (mut on, kill) = session(server);
        on.begin(true).unwrap();
        on.run(&INSERT, &pair(1, "a")).unwrap();
        other.script(&kill).unwrap();
        let failure = on.run(&INSERT, &pair(2, "b")).unwrap_err();
        assert_eq!(failure.trouble, Trouble::Lost, "{failure}");
        assert_eq!(on.rollback().unwrap_err().trouble, Trouble::Lost);
        assert_eq!(
            on.begin(true).and_then(|()| on.run(&INSERT, &pair(2, "b"))).unwrap_err().trouble,
            Trouble::Lost
        );
        assert_eq!(answer(other.as_mut(), COUNT), "0");
    });
}

#[test]
fn a_row_that_is_found_counts_though_nothing_in_it_changes() {
    statements!("conn_found");
    each(|server| {
        let mut on = server.open();
        made(on.as_mut(), &TABLE);
        on.begin(true).unwrap();
        on.run(&INSERT, &pair(1, "a")).unwrap();
        assert_eq!(on.run(&UPDATE, &pair(1, "a")).unwrap(), 1);
        on.commit().unwrap();
    });
}

#[test]
fn a_lock_that_is_not_had_in_time_is_a_timeout() {
    statements!("conn_locked");
    each(|server| {
        let mut holder = server.open();
        made(holder.as_mut(), &TABLE);
        let mut waiter = server.open();
        let shorter = match waiter.dialect() {
            Dialect::PostgreSql => "SET lock_timeout = '300ms'",
            Dialect::MariaDb => "SET SESSION innodb_lock_wait_timeout = 1",
            Dialect::Sqlite => "PRAGMA busy_timeout = 300",
        };
        waiter.script(shorter).unwrap();
        holder.begin(true).unwrap();
        holder.run(&INSERT, &pair(1, "a")).unwrap();
        let waited = waiter.begin(true).and_then(|()| waiter.run(&INSERT, &pair(1, "b")));
        assert_eq!(waited.unwrap_err().trouble, Trouble::LockTimeout);
        waiter.rollback().unwrap();
        holder.commit().unwrap();
        waiter.begin(true).unwrap();
        assert_eq!(waiter.run(&UPDATE, &pair(1, "b")).unwrap(), 1, "and it goes on");
        waiter.commit().unwrap();
    });
}

#[test]
fn a_writer_is_waited_for() {
    statements!("conn_waited");
    each(|server| {
        let mut on = server.open();
        made(on.as_mut(), &TABLE);
        let add = |first: i64| {
            let mut on = server.open();
            for key in first..first + 50 {
                on.begin(true).unwrap();
                on.run(&INSERT, &pair(key, "a")).unwrap();
                on.commit().unwrap();
            }
        };
        thread::scope(|scope| {
            for first in [0, 100, 200, 300] {
                scope.spawn(move || add(first));
            }
        });
        assert_eq!(answer(on.as_mut(), COUNT), "200");
    });
}

#[test]
fn what_another_changed_since_it_was_read_cannot_be_written_in_sqlite() {
    statements!("conn_since");
    each(|server| {
        let mut reader = server.open();
        if reader.dialect() != Dialect::Sqlite {
            return; // there it depends on the level
        }
        made(reader.as_mut(), &TABLE);
        let mut writer = server.open();
        reader.begin(false).unwrap();
        assert_eq!(reader.row(&READ, &[1.into()]).unwrap(), None);
        writer.begin(true).unwrap();
        writer.run(&INSERT, &pair(1, "a")).unwrap();
        writer.commit().unwrap();
        assert_eq!(reader.row(&READ, &[1.into()]).unwrap(), None, "its snapshot stays");
        assert_eq!(reader.run(&INSERT, &pair(2, "b")).unwrap_err().trouble, Trouble::Serialization);
        reader.rollback().unwrap();
        assert_eq!(text(reader.as_mut(), &READ, 1), "a");
    });
}
