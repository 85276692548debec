//! Connections that cannot be made, and statements that cannot be run.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use tare_load::oltp::{Dialect, Isolation, Statement, Trouble, connect};

use crate::protocols::each;
use crate::servers::{PATIENCE, Server, answer};
use crate::tables::has_row_locks;

fn refused(url: &str, patience: Duration) -> (Trouble, String) {
    let failure = connect(url, Isolation::ReadCommitted, patience).err().expect(url);
    (failure.trouble, failure.text)
}

/// At an address where the same kind of server is not.
fn elsewhere(server: &Server, port: u16) -> String {
    let (scheme, _) = server.url.split_once("://").unwrap();
    format!("{scheme}://someone:sesame@127.0.0.1:{port}/nothing")
}

fn has_server(server: &Server) -> bool {
    has_row_locks(server.open().as_ref())
}

#[test]
fn a_port_where_nobody_listens_is_said_without_the_password() {
    each(|server| {
        if has_server(server) {
            let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let (trouble, text) = refused(&elsewhere(server, free), PATIENCE);
            assert_eq!(trouble, Trouble::Lost);
            assert!(text.contains(&free.to_string()) && !text.contains("sesame"), "{text}");
        }
    });
}

#[test]
fn a_server_that_does_not_answer_is_given_up_in_time() {
    each(|server| {
        if has_server(server) {
            let silent = TcpListener::bind("127.0.0.1:0").unwrap();
            let start = Instant::now();
            let url = elsewhere(server, silent.local_addr().unwrap().port());
            let (trouble, text) = refused(&url, Duration::from_millis(500));
            assert_eq!(trouble, Trouble::Lost, "{text}");
            assert!(start.elapsed() < Duration::from_secs(5));
        }
    });
}

#[test]
fn a_statement_of_ill_sql_is_an_error_and_the_connection_goes_on() {
    static ILL: Statement = Statement::new("SELEKT $1");
    each(|server| {
        let mut on = server.open();
        on.begin(false).unwrap();
        let failure = on.rows(&ILL, &[1.into()]).unwrap_err();
        assert_eq!(failure.trouble, Trouble::Error);
        assert!(failure.text.contains("SELEKT"), "{failure}");
        on.rollback().unwrap();
        assert_eq!(on.script("SELEKT 1").unwrap_err().trouble, Trouble::Error);
        assert_eq!(on.ask("SELEKT 1").unwrap_err().trouble, Trouble::Error);
        assert_eq!(answer(on.as_mut(), "SELECT 1"), "1");
    });
}

#[test]
fn a_failed_transaction_cannot_be_committed_unnoticed() {
    static ILL: Statement = Statement::new("SELECT * FROM conn_nowhere");
    each(|server| {
        let mut on = server.open();
        if on.dialect() != Dialect::PostgreSql {
            return; // elsewhere a failed statement does not spoil what was done before it
        }
        on.begin(false).unwrap();
        on.script("SELECT 1").unwrap();
        on.rows(&ILL, &[]).unwrap_err();
        assert!(on.commit().unwrap_err().text.contains("ROLLBACK"));
        on.begin(false).unwrap();
        on.rollback().unwrap();
    });
}

#[test]
fn a_server_that_is_full_says_so() {
    each(|server| {
        let mut on = server.open();
        if on.dialect() != Dialect::PostgreSql {
            return;
        }
        on.script(
            "DROP ROLE IF EXISTS conn_one; CREATE ROLE conn_one LOGIN PASSWORD 'one' CONNECTION LIMIT 1",
        )
        .unwrap();
        let separator = if server.url.contains('?') { '&' } else { '?' };
        let url = format!("{}{separator}user=conn_one&password=one", server.url);
        let first =
            connect(&url, Isolation::ReadCommitted, PATIENCE).unwrap_or_else(|failure| panic!("{failure}"));
        let (trouble, text) = refused(&url, PATIENCE);
        assert_eq!(trouble, Trouble::Full, "{text}");
        drop(first);
        on.script("DROP ROLE conn_one").unwrap();
    });
}

#[test]
fn a_full_mariadb_says_so_and_a_wrong_password_is_not_repeated() {
    each(|server| {
        let mut on = server.open();
        if on.dialect() != Dialect::MariaDb {
            return;
        }
        on.script("CREATE OR REPLACE USER conn_one IDENTIFIED BY 'one' WITH MAX_USER_CONNECTIONS 1").unwrap();
        on.script("GRANT ALL ON *.* TO conn_one").unwrap();
        let at = |password: &str| {
            let (scheme, rest) = server.url.split_once("://").unwrap();
            let (_, place) = rest.split_once('@').unwrap();
            format!("{scheme}://conn_one:{password}@{place}")
        };
        let first = connect(&at("one"), Isolation::ReadCommitted, PATIENCE);
        let full = refused(&at("one"), PATIENCE);
        drop(first.unwrap_or_else(|failure| panic!("{failure}")));
        let wrong = refused(&at("sesame"), PATIENCE);
        on.script("DROP USER conn_one").unwrap();
        assert_eq!(full.0, Trouble::Full, "{}", full.1);
        assert_eq!(wrong.0, Trouble::Error, "{}", wrong.1);
        assert!(wrong.1.contains("1045") && !wrong.1.contains("sesame"), "{}", wrong.1);
    });
}

#[test]
fn a_wrong_password_is_not_repeated() {
    each(|server| {
        let mut on = server.open();
        if on.dialect() != Dialect::PostgreSql || answer(on.as_mut(), TCP).is_empty() {
            eprintln!("SKIPPED: no PostgreSQL server that listens on 127.0.0.1");
            return;
        }
        on.script("DROP ROLE IF EXISTS conn_locked; CREATE ROLE conn_locked LOGIN PASSWORD 'right'").unwrap();
        let port = answer(on.as_mut(), "SHOW port");
        let at = |password: &str| format!("postgresql://conn_locked:{password}@127.0.0.1:{port}/postgres");
        let right = connect(&at("right"), Isolation::ReadCommitted, PATIENCE);
        let wrong = connect(&at("sesame"), Isolation::ReadCommitted, PATIENCE);
        drop(right.unwrap_or_else(|failure| panic!("{failure}")));
        match wrong {
            Err(failure) => {
                assert_eq!(failure.trouble, Trouble::Error);
                assert!(failure.text.contains("28P01") && !failure.text.contains("sesame"), "{failure}");
            }
            Ok(_) => eprintln!("SKIPPED: this server asks nobody for a password"),
        }
        on.script("DROP ROLE conn_locked").unwrap();
    });
}

const TCP: &str = "SELECT CASE WHEN position('127.0.0.1' in current_setting('listen_addresses')) > 0 THEN 'yes' ELSE '' END";
