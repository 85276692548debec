//! COPY … FROM STDIN: rows by the fastest door, all or none.

use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend::{self, CopyData};

use crate::oltp::tsv::Tsv;
use crate::oltp::{Failure, Rows, Table};

use super::refused::{Refused, malformed};
use super::wire::Wire;

/// Streams what `fill` writes. A server that has refused a row is noticed at the end of the block.
pub(super) fn copy(
    wire: &mut Wire,
    table: &Table,
    fill: &mut dyn FnMut(&mut dyn Rows) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    open(wire, table)?;
    let mut refused = None;
    let mut sink = |block: &[u8]| {
        send(wire, block)?;
        refused = objection(wire)?;
        refused.clone().map_or(Ok(()), Err)
    };
    let mut rows = Tsv::new(&mut sink);
    let filled = fill(&mut rows).and_then(|()| rows.finish());
    match (refused, filled) {
        (Some(failure), _) => Err(failure),
        (None, Ok(rows)) => close(wire).map(|()| rows),
        (None, Err(failure)) => abandon(wire).and(Err(failure)),
    }
}

fn open(wire: &mut Wire, table: &Table) -> Result<(), Failure> {
    let columns: Vec<_> = table.columns.iter().map(|column| column.name).collect();
    let sql = format!("COPY {} ({}) FROM STDIN", table.name, columns.join(", "));
    frontend::query(&sql, &mut wire.out).map_err(malformed)?;
    wire.send()?;
    loop {
        match wire.next()? {
            Message::CopyInResponse(_) => return Ok(()),
            Message::ErrorResponse(body) => {
                let failure = wire.refused(&Refused::read(&body))?;
                return wire.answer(|_| Ok(())).and(Err(failure));
            }
            _ => {}
        }
    }
}

fn send(wire: &mut Wire, block: &[u8]) -> Result<(), Failure> {
    CopyData::new(block).map_err(malformed)?.write(&mut wire.out);
    wire.send()
}

/// The server's, if it has raised one by now. It may also have said something else.
fn objection(wire: &mut Wire) -> Result<Option<Failure>, Failure> {
    while wire.has_news() {
        if let Message::ErrorResponse(body) = wire.receive()? {
            let failure = wire.refused(&Refused::read(&body))?;
            wire.answer(|_| Ok(()))?;
            return Ok(Some(failure));
        }
    }
    Ok(None)
}

fn close(wire: &mut Wire) -> Result<(), Failure> {
    frontend::copy_done(&mut wire.out);
    wire.send()?;
    wire.answer(|_| Ok(()))
}

/// The server answers with an error of our making.
fn abandon(wire: &mut Wire) -> Result<(), Failure> {
    frontend::copy_fail("the rows could not be made", &mut wire.out).map_err(malformed)?;
    wire.send()?;
    let _ = wire.answer(|_| Ok(()));
    wire.usable()
}
