//! What stands in the database after each action, and what is refused.

use std::sync::Mutex;

use tare_load::oltp::database::{self, Problem};
use tare_load::oltp::events::{CheckResult, Event, LoadMarker};
use tare_load::oltp::request::{Action, Request};
use tare_load::oltp::{Connection, Dialect};

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
        on.script("DROP TABLE IF EXISTS tare_oltp_parts").unwrap();
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
        protocol: None,
        connect_timeout_s: 10.0,
        action,
    }
}

/// All events of an action.
fn ask(server: &Server, breaks: Breaks, action: Action) -> Result<Vec<Event>, Problem> {
    let events = Mutex::new(Vec::new());
    let emit = |event| events.lock().unwrap().push(event);
    let connect = || Ok(server.open());
    let request = request(server, "shop", action);
    let shop = Shop(breaks);
    match &request.action {
        Action::Load { .. } => database::load(&request, &shop, &connect, &emit),
        Action::Check { .. } => database::check(&request, &shop, &connect, &emit),
        Action::Drop => database::drop(&request, &shop, &connect, &emit),
        Action::Run(_) => unreachable!(),
    }?;
    Ok(events.into_inner().unwrap())
}

fn found(server: &Server) -> Option<LoadMarker> {
    database::found(server.open().as_mut()).unwrap()
}

fn is_there(on: &mut dyn Connection, table: &str) -> bool {
    on.ask(&format!("SELECT count(*) FROM {table}")).is_ok()
}

#[test]
fn a_load_leaves_every_row_and_says_what_it_was() {
    each(|server| {
        let events = ask(server, Breaks::Nowhere, LOAD).unwrap();
        let Some(Event::LoadDone { loaded, tables, rows_ns, all_ns, own, continued_rows: 0 }) = events.last()
        else {
            panic!("{events:?}")
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

/// One connection loads part by part; the server goes away in the last one.
fn interrupted(server: &Server) -> Problem {
    ask(server, Breaks::Server, Action::Load { connections: 1, replace: false }).unwrap_err()
}

#[test]
fn a_load_whose_server_went_away_is_refused_until_it_is_continued() {
    each(|server| {
        let problem = interrupted(server);
        assert!(problem.what.contains("what is loaded stays") && problem.next.contains("which continues"));
        assert!(!found(server).unwrap().complete);
        let refused = ask(server, Breaks::Nowhere, Action::Check { rows: 1 }).unwrap_err();
        assert!(refused.what.contains("interrupted") && refused.next.contains("continues"), "{refused}");

        let missing = |on: &mut dyn Connection| {
            let there: u64 = answer(on, "SELECT count(*) FROM db_sales").parse().unwrap();
            SHOPS * SALES - there
        };
        assert!((1..=SALES).contains(&missing(server.open().as_mut())), "one part at most is lost");
        let events = ask(server, Breaks::Nowhere, LOAD).unwrap();
        let Some(Event::LoadDone { tables, continued_rows, .. }) = events.last() else {
            panic!("{events:?}")
        };
        assert_eq!(tables.iter().map(|one| one.rows).collect::<Vec<_>>(), [SHOPS, SHOPS * SALES]);
        assert_eq!(*continued_rows, (SHOPS - 1) * SALES, "the smallest part comes last");
        assert_eq!(missing(server.open().as_mut()), 0);
        assert!(found(server).unwrap().complete);
        assert!(!is_there(server.open().as_mut(), "tare_oltp_parts"));
        ask(server, Breaks::Nowhere, Action::Check { rows: 1 }).unwrap();
    });
}

#[test]
fn another_load_does_not_continue_an_interrupted_one_and_says_in_what_it_differs() {
    each(|server| {
        interrupted(server);
        let other = Request { seed: 5, options: Default::default(), ..request(server, "shop", LOAD) };
        let load = |request: &Request| {
            database::load(request, &Shop(Breaks::Nowhere), &|| Ok(server.open()), &|_| {})
        };
        let refused = load(&other).unwrap_err();
        assert!(refused.usage && refused.next.contains("--replace"), "{refused}");
        assert!(refused.what.contains(&format!("seed {}, not 5; options", u64::MAX - 7)), "{refused}");
        load(&Request { action: RELOAD, ..other }).unwrap();
        assert_eq!(found(server).unwrap().seed, 5);
    });
}

#[test]
fn rows_that_vanished_from_an_interrupted_load_are_noticed() {
    each(|server| {
        interrupted(server);
        server.open().script("DELETE FROM db_sales WHERE shop = 0 AND number = 7").unwrap();
        let problem = ask(server, Breaks::Nowhere, LOAD).unwrap_err();
        assert!(problem.what.contains("db_sales has 11999 rows, where 12000 were loaded"), "{problem}");
        interrupted(server);
        server.open().script("DROP TABLE db_sales").unwrap();
        let refused = ask(server, Breaks::Nowhere, LOAD).unwrap_err();
        assert!(refused.what.contains("db_sales, which is gone") && refused.usage, "{refused}");
        ask(server, Breaks::Nowhere, RELOAD).unwrap();
    });
}

#[test]
fn a_load_that_stopped_while_it_made_indexes_makes_those_that_are_missing() {
    each(|server| {
        ask(server, Breaks::Nowhere, LOAD).unwrap();
        interrupted_after(server, "DROP INDEX db_sales_note");
        let events = ask(server, Breaks::Nowhere, LOAD).unwrap();
        assert!(matches!(events.last(), Some(Event::LoadDone { continued_rows, .. }) if *continued_rows > 0));
        let twice =
            "INSERT INTO db_sales SELECT shop + 100, number, amount, note FROM db_sales WHERE number < 2";
        server.open().script(twice).unwrap();
        let note = "UPDATE db_sales SET shop = 100 WHERE shop = 101";
        assert!(server.open().script(note).is_err(), "its key is there");
    });
}

/// As if a whole load had been killed before it was complete.
fn interrupted_after(server: &Server, undo: &str) {
    let mut on = server.open();
    let undo = if on.dialect() == Dialect::MariaDb { format!("{undo} ON db_sales") } else { undo.to_owned() };
    on.script(&undo).unwrap();
    on.script("UPDATE tare_oltp SET complete = 0").unwrap();
    on.script("CREATE TABLE tare_oltp_parts (table_name varchar(100), part bigint, row_count bigint)")
        .unwrap();
    let rows: Vec<_> = (0..SHOPS).map(|shop| format!("('db_sales', {shop}, {SALES})")).collect();
    on.script(&format!("INSERT INTO tare_oltp_parts VALUES ('db_shops', 0, {SHOPS}), {}", rows.join(", ")))
        .unwrap();
}

fn checked(events: &[Event]) -> Vec<&CheckResult> {
    events
        .iter()
        .filter_map(|event| if let Event::CheckResult(check) = event { Some(check) } else { None })
        .collect()
}

#[test]
fn a_check_counts_what_fails_and_names_the_first() {
    each(|server| {
        ask(server, Breaks::Nowhere, LOAD).unwrap();
        let events = ask(server, Breaks::Nowhere, Action::Check { rows: 2 }).unwrap();
        assert!(matches!(events.last(), Some(Event::ChecksDone { took_ns: 1.. })));
        let [named, paid] = checked(&events)[..] else { panic!("{events:?}") };
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
            assert!(matches!(
                ask(server, Breaks::Nowhere, Action::Drop).unwrap()[..],
                [Event::TablesDropped]
            ));
            assert_eq!(found(server), None);
            assert!(!is_there(server.open().as_mut(), "db_shops"));
        }
        let refused = ask(server, Breaks::Nowhere, Action::Check { rows: 1 }).unwrap_err();
        assert!(refused.what.contains("not loaded"), "{refused}");
    });
}
