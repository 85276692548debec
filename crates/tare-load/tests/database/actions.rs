//! What stands in the database after each action, and what is refused.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tare_load::oltp::database::{self, Problem};
use tare_load::oltp::request::{Action, Request};
use tare_load::oltp::told::{Checked, Loaded, Told};
use tare_load::oltp::{Connection, Failure, Trouble};

use crate::servers::{Server, answer, each_alone};
use crate::shop::{Breaks, SALES, SHOPS, Shop, note, options};

const LOAD: Action = Action::Load { connections: 3, replace: false };
const RELOAD: Action = Action::Load { connections: 3, replace: true };

/// One test at a time: a database holds one workload.
fn each(test: impl Fn(&Server)) {
    each_alone(|server| {
        let mut on = server.open();
        on.script("DROP TABLE IF EXISTS db_shops").unwrap();
        on.script("DROP TABLE IF EXISTS db_sales").unwrap();
        on.script("DROP TABLE IF EXISTS tare_oltp").unwrap();
        drop(on);
        test(server);
    });
}

fn request(server: &Server, workload: &str, action: Action) -> Request {
    Request {
        url: server.url.clone(),
        workload: workload.to_owned(),
        scale: None,
        options: options(),
        seed: u64::MAX - 7,
        connect_timeout_s: 10.0,
        action,
    }
}

/// With all that was told.
fn ask(server: &Server, breaks: Breaks, action: Action) -> Result<Vec<Told>, Problem> {
    let told = Mutex::new(Vec::new());
    let tell = |line| told.lock().unwrap().push(line);
    let connect = || Ok(server.open());
    let request = request(server, "shop", action);
    let shop = Shop(breaks);
    match &request.action {
        Action::Load { .. } => database::load(&request, &shop, &connect, &tell),
        Action::Check { .. } => database::check(&request, &shop, &connect, &tell),
        Action::Drop => database::drop(&request, &shop, &connect, &tell),
        Action::Run(_) => unreachable!(),
    }?;
    Ok(told.into_inner().unwrap())
}

fn found(server: &Server) -> Option<Loaded> {
    database::found(server.open().as_mut()).unwrap()
}

fn is_there(on: &mut dyn Connection, table: &str) -> bool {
    on.ask(&format!("SELECT count(*) FROM {table}")).is_ok()
}

#[test]
fn a_load_leaves_every_row_and_says_what_it_was() {
    each(|server| {
        let told = ask(server, Breaks::Nowhere, LOAD).unwrap();
        let Some(Told::LoadDone { loaded, tables, rows_ns, all_ns, own }) = told.last() else {
            panic!("{told:?}")
        };
        assert_eq!(tables.iter().map(|one| one.rows).collect::<Vec<_>>(), [SHOPS, SHOPS * SALES]);
        assert!(0 < *rows_ns && rows_ns < all_ns && own.cpu_ns > 0 && own.peak_rss_bytes > 0);
        assert_eq!(found(server).as_ref(), Some(loaded));
        assert!(loaded.complete && loaded.scale == SHOPS as f64 && loaded.seed == u64::MAX - 7);
        assert_eq!(database::options(loaded).unwrap(), options());

        let mut on = server.open();
        assert_eq!(answer(on.as_mut(), "SELECT count(DISTINCT shop) FROM db_sales"), SHOPS.to_string());
        let (_, rows) = on.ask("SELECT note FROM db_sales WHERE shop = 2 ORDER BY number").unwrap();
        let notes: Vec<_> = rows.iter().map(|row| row.text(0).unwrap().to_owned()).collect();
        assert_eq!(notes, (0..SALES).map(note).collect::<Vec<_>>());
    });
}

#[test]
fn what_is_loaded_is_replaced_only_if_asked() {
    each(|server| {
        ask(server, Breaks::Nowhere, LOAD).unwrap();
        server.open().script("DELETE FROM db_shops").unwrap();
        let refused = ask(server, Breaks::Nowhere, LOAD).unwrap_err();
        assert!(refused.usage && refused.what.contains("loaded in this database already"), "{refused}");
        assert_eq!(answer(server.open().as_mut(), "SELECT count(*) FROM db_shops"), "0");
        ask(server, Breaks::Nowhere, RELOAD).unwrap();
        assert_eq!(answer(server.open().as_mut(), "SELECT count(*) FROM db_shops"), SHOPS.to_string());
    });
}

#[test]
fn tables_of_others_are_left_alone_unless_asked() {
    each(|server| {
        server.open().script("CREATE TABLE db_sales (precious int)").unwrap();
        for action in [LOAD, Action::Drop] {
            let refused = ask(server, Breaks::Nowhere, action).unwrap_err();
            assert!(refused.what.contains("db_sales") && refused.usage, "{refused}");
        }
        assert!(server.open().ask("SELECT precious FROM db_sales").is_ok());
        ask(server, Breaks::Nowhere, RELOAD).unwrap();
        assert!(server.open().ask("SELECT precious FROM db_sales").is_err());
    });
}

#[test]
fn a_load_that_fails_leaves_nothing() {
    each(|server| {
        for (breaks, said) in [(Breaks::Generator, "the generator is broken"), (Breaks::Key, "db_sales")] {
            let problem = ask(server, breaks, LOAD).unwrap_err();
            assert!(problem.what.contains(said) && problem.what.contains("dropped again"), "{problem}");
            assert!(!problem.usage);
            assert_eq!(found(server), None);
            let mut on = server.open();
            assert!(["db_shops", "db_sales", "tare_oltp"].iter().all(|table| !is_there(on.as_mut(), table)));
        }
    });
}

/// Its connections are gone when what it made is to be dropped: as if it had been killed.
fn interrupted(server: &Server) -> Problem {
    let opened = AtomicUsize::new(0);
    let connect = || match opened.fetch_add(1, Ordering::Relaxed) {
        0 => Ok(server.open()),
        _ => Err(Failure::new(Trouble::Lost, "gone")),
    };
    let action = Action::Load { connections: 1, replace: false };
    database::load(&request(server, "shop", action), &Shop(Breaks::Generator), &connect, &|_| {}).unwrap_err()
}

#[test]
fn an_interrupted_load_is_known_refused_and_loaded_over() {
    each(|server| {
        let problem = interrupted(server);
        assert!(problem.what.contains("the next load does"), "{problem}");
        assert!(!found(server).unwrap().complete);
        assert!(is_there(server.open().as_mut(), "db_shops"));
        let refused = ask(server, Breaks::Nowhere, Action::Check { rows: 1 }).unwrap_err();
        assert!(refused.what.contains("interrupted"), "{refused}");
        ask(server, Breaks::Nowhere, LOAD).unwrap();
        assert!(found(server).unwrap().complete);
    });
}

fn checked(told: &[Told]) -> Vec<&Checked> {
    told.iter().filter_map(|line| if let Told::Checked(one) = line { Some(one) } else { None }).collect()
}

#[test]
fn a_check_counts_what_fails_and_names_the_first() {
    each(|server| {
        ask(server, Breaks::Nowhere, LOAD).unwrap();
        let told = ask(server, Breaks::Nowhere, Action::Check { rows: 2 }).unwrap();
        assert!(matches!(told.last(), Some(Told::CheckDone { took_ns: 1.. })));
        let [named, paid] = checked(&told)[..] else { panic!("{told:?}") };
        assert_eq!((named.failing, named.rows.len()), (0, 0));
        assert_eq!((paid.name.as_str(), paid.failing), ("paid", SHOPS * SALES / 1000));
        assert_eq!(paid.columns, ["shop", "number", "amount"]);
        let zero = if server.url.starts_with("sqlite") { "0" } else { "0.00" };
        assert_eq!(paid.rows, [["0", "999", zero], ["0", "1999", zero]]);
    });
}

#[test]
fn a_drop_leaves_nothing_and_may_be_repeated() {
    each(|server| {
        ask(server, Breaks::Nowhere, LOAD).unwrap();
        let other = request(server, "other", Action::Drop);
        let refused =
            database::drop(&other, &Shop(Breaks::Nowhere), &|| Ok(server.open()), &|_| {}).unwrap_err();
        assert!(refused.what.contains("holds shop, not other"), "{refused}");
        for _ in 0..2 {
            assert!(matches!(ask(server, Breaks::Nowhere, Action::Drop).unwrap()[..], [Told::Dropped]));
            assert_eq!(found(server), None);
            assert!(!is_there(server.open().as_mut(), "db_shops"));
        }
        let refused = ask(server, Breaks::Nowhere, Action::Check { rows: 1 }).unwrap_err();
        assert!(refused.what.contains("not loaded"), "{refused}");
    });
}
