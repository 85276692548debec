//! An item gets another title.

use crate::oltp::epinions::fill::TITLE_LENGTH;
use crate::oltp::epinions::population::Population;
use crate::oltp::noise::noise;
use crate::oltp::{Connection, Ended, Failure, Random, Statement, Transaction, Value};

static RETITLE: Statement = Statement::new("UPDATE item SET title = $1 WHERE i_id = $2");

pub struct UpdateItemTitle {
    item: i64,
    title: String,
}

impl UpdateItemTitle {
    pub fn draw(all: &Population, random: &mut Random) -> Self {
        Self { item: all.item(random), title: noise(random, TITLE_LENGTH) }
    }
}

impl Transaction for UpdateItemTitle {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        on.run(&RETITLE, &[Value::from(&*self.title), self.item.into()])?;
        Ok(Ended::Commit)
    }
}
