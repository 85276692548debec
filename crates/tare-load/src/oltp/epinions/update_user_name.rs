//! A user takes another name.

use crate::oltp::epinions::fill::NAME_LENGTH;
use crate::oltp::epinions::population::Population;
use crate::oltp::noise::noise;
use crate::oltp::{Connection, Ended, Failure, Random, Statement, Transaction, Value};

static RENAME: Statement = Statement::new("UPDATE useracct SET name = $1 WHERE u_id = $2");

pub struct UpdateUserName {
    user: i64,
    name: String,
}

impl UpdateUserName {
    pub fn draw(all: &Population, random: &mut Random) -> Self {
        Self { user: all.user(random), name: noise(random, NAME_LENGTH) }
    }
}

impl Transaction for UpdateUserName {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        on.run(&RENAME, &[Value::from(&*self.name), self.user.into()])?;
        Ok(Ended::Commit)
    }
}
