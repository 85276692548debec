//! Every server over every protocol that it has.

use tare_load::oltp::Protocol;

use crate::servers::{self, Server};

/// Runs a test so; on SQLite where no server is named.
pub fn each(test: impl Fn(&Server)) {
    servers::each(|server| {
        for protocol in [Protocol::Unnamed, Protocol::Simple] {
            if protocol.check(&server.url).is_ok() {
                eprintln!("over {protocol:?}");
                test(&Server { url: server.url.clone(), protocol: Some(protocol), folder: None });
            }
        }
        test(server);
    });
}
