//! A user says again whether he trusts another, if he has said so before.

use crate::oltp::epinions::population::Population;
use crate::oltp::{Connection, Ended, Failure, Random, Statement, Transaction};

static TRUST: Statement =
    Statement::new("UPDATE trust SET trust = $1 WHERE source_u_id = $2 AND target_u_id = $3");

pub struct UpdateTrustRating {
    source: i64,
    target: i64,
    trust: i64,
}

impl UpdateTrustRating {
    pub fn draw(all: &Population, random: &mut Random) -> Self {
        Self { source: all.user(random), target: all.user(random), trust: random.below(2) as i64 }
    }
}

impl Transaction for UpdateTrustRating {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        on.run(&TRUST, &[self.trust.into(), self.source.into(), self.target.into()])?;
        Ok(Ended::Commit)
    }
}
