//! Rows into a table by LOAD DATA LOCAL; by INSERTs of many rows where the server takes no local files.
//!
//! The statement runs in a thread of its own and reads what the generator writes: both work at the same time.

use std::io::Write;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use mysql::prelude::Queryable;
use mysql::{Conn, LocalInfileHandler};

use super::failure::failed;
use super::insert;
use crate::oltp::tsv::Tsv;
use crate::oltp::{Failure, Rows, Table, Trouble};

/// Blocks of lines that may wait for the server.
const AHEAD: usize = 8;

/// How many rows there were. The transaction is the caller's to end.
pub fn load(
    on: &mut Conn,
    table: &Table,
    fill: &mut dyn FnMut(&mut dyn Rows) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    let local: Option<bool> =
        on.query_first("SELECT @@GLOBAL.local_infile").map_err(|error| failed(&error))?;
    let rows = if local == Some(true) { stream(on, table, fill) } else { insert::insert(on, table, fill) }?;
    let taken = if local == Some(true) { on.affected_rows() } else { rows };
    refuse_losses(on, table, rows, taken)?;
    Ok(rows)
}

fn stream(
    on: &mut Conn,
    table: &Table,
    fill: &mut dyn FnMut(&mut dyn Rows) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    let (sender, receiver) = sync_channel(AHEAD);
    on.set_local_infile_handler(Some(sending(receiver)));
    thread::scope(|scope| {
        let server = scope.spawn(|| {
            let answer = on.query_drop(statement(table)).map_err(|error| failed(&error));
            on.set_local_infile_handler(None); // drops the receiver: whoever still writes is told
            answer
        });
        let written = write(sender, fill);
        let answer = server.join().unwrap_or_else(|_| Err(Failure::foreign("the loading thread broke off")));
        answer.and(written)
    })
}

fn sending(blocks: Receiver<Vec<u8>>) -> LocalInfileHandler {
    LocalInfileHandler::new(move |_, out| blocks.iter().try_for_each(|block| out.write_all(&block)))
}

/// The sender is dropped at the end, which ends the file: also after a failure, so that the server answers and the
/// transaction can be rolled back.
fn write(
    blocks: SyncSender<Vec<u8>>,
    fill: &mut dyn FnMut(&mut dyn Rows) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    let mut sink = |block: &[u8]| {
        let stopped = |_| Failure::new(Trouble::Lost, "the server stopped taking rows");
        blocks.send(block.to_vec()).map_err(stopped)
    };
    let mut lines = Tsv::new(&mut sink);
    fill(&mut lines)?;
    lines.finish()
}

/// Tab, newline and backslash stand there themselves: the session's mode knows no escapes.
fn statement(table: &Table) -> String {
    let columns: Vec<_> = table.columns.iter().map(|column| column.name).collect();
    format!(
        "LOAD DATA LOCAL INFILE 'rows' INTO TABLE {} CHARACTER SET utf8mb4 \
         FIELDS TERMINATED BY '\t' ESCAPED BY '\\' LINES TERMINATED BY '\n' ({})",
        table.name,
        columns.join(",")
    )
}

/// LOAD DATA LOCAL makes warnings of errors, skips rows whose key is there already, and goes on.
fn refuse_losses(on: &mut Conn, table: &Table, rows: u64, taken: u64) -> Result<(), Failure> {
    if on.warnings() == 0 && rows == taken {
        return Ok(());
    }
    let said: Option<(String, u16, String)> =
        on.query_first("SHOW WARNINGS").map_err(|error| failed(&error))?;
    let (number, text) = said.map_or((0, String::new()), |(_, number, text)| (number, text));
    let trouble = if number == 1062 { Trouble::Duplicate } else { Trouble::Error };
    let what = format!("{} took {taken} of {rows} rows as they are: {text} [{number}]", table.name);
    Err(Failure::new(trouble, what))
}
