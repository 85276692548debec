//! Where a transaction is entered, and what is drawn there for more than one type.

use std::fmt;

use crate::oltp::tpcc::missing;
use crate::oltp::tpcc::names::last_name;
use crate::oltp::tpcc::nurand::NonUniform;
use crate::oltp::tpcc::schema::DISTRICTS;
use crate::oltp::{Connection, Failure, Random, Statement, Value};

/// One for each district; all but Stock-Level draw a district of the warehouse anew each time.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    pub warehouse: i64,
    pub district: i64,
    /// In all.
    pub warehouses: i64,
}

impl Terminal {
    /// A user's is always the same. Users are spread over the warehouses first, then over their districts.
    pub fn of(warehouses: i64, user: Option<u64>, random: &mut Random) -> Self {
        let all = (warehouses * DISTRICTS) as u64;
        let number = user.map_or_else(|| random.below(all), |user| user % all) as i64;
        Self { warehouse: number % warehouses + 1, district: number / warehouses + 1, warehouses }
    }

    /// Any other warehouse; if there is none, this one.
    pub fn remote_warehouse(&self, random: &mut Random) -> i64 {
        if self.warehouses == 1 {
            return self.warehouse;
        }
        let other = random.between(1, self.warehouses - 1);
        other + i64::from(other >= self.warehouse)
    }
}

/// Any of a warehouse.
pub fn district(random: &mut Random) -> i64 {
    random.between(1, DISTRICTS)
}

static BY_NAME: Statement = Statement::new(
    "SELECT c_id FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_last = $3 ORDER BY c_first, c_id",
);

/// Who a customer is, as it was keyed in (clauses 2.5.1.2 and 2.6.1.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    Number(i64),
    LastName(String),
}

impl Who {
    /// By last name in 60 of 100 cases.
    pub fn draw(constants: &NonUniform, random: &mut Random) -> Self {
        if random.percent(60.0) {
            Self::LastName(last_name(constants.last_name(random)))
        } else {
            Self::Number(constants.customer(random))
        }
    }

    /// The customer's number: of several of a name, that in the middle by first name, rounded up.
    pub fn find(&self, on: &mut dyn Connection, warehouse: i64, district: i64) -> Result<i64, Failure> {
        let name = match self {
            Self::Number(number) => return Ok(*number),
            Self::LastName(name) => name,
        };
        let named = on.rows(&BY_NAME, &[warehouse.into(), district.into(), Value::from(name.as_str())])?;
        match named.get(named.len().saturating_sub(1) / 2) {
            Some(row) => row.int(0),
            None => {
                Err(missing(format_args!("customer {self} in district {district} of warehouse {warehouse}")))
            }
        }
    }
}

impl fmt::Display for Who {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(out, "{number}"),
            Self::LastName(name) => out.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn users_fill_the_warehouses_before_they_share_one_and_each_keeps_its_place() {
        let place = |user| {
            let terminal = Terminal::of(4, Some(user), &mut Random::at(user, &[]));
            (terminal.warehouse, terminal.district)
        };
        assert_eq!((0..5).map(place).collect::<Vec<_>>(), [(1, 1), (2, 1), (3, 1), (4, 1), (1, 2)]);
        assert_eq!((0..40).map(place).collect::<HashSet<_>>().len(), 40);
        assert_eq!(place(0), place(40));
    }

    #[test]
    fn an_open_loop_enters_everywhere() {
        let mut random = Random::at(1, &[]);
        let places: HashSet<_> = (0..1_000)
            .map(|_| Terminal::of(3, None, &mut random))
            .map(|terminal| (terminal.warehouse, terminal.district))
            .collect();
        assert_eq!(places.len(), 30);
    }

    #[test]
    fn a_remote_warehouse_is_any_but_the_own_unless_it_is_the_only_one() {
        let mut random = Random::at(1, &[]);
        let terminal = Terminal { warehouse: 3, district: 1, warehouses: 5 };
        let remote: HashSet<_> = (0..1_000).map(|_| terminal.remote_warehouse(&mut random)).collect();
        assert_eq!(remote, HashSet::from([1, 2, 4, 5]));
        let only = Terminal { warehouse: 1, district: 1, warehouses: 1 };
        assert_eq!(only.remote_warehouse(&mut random), 1);
    }

    #[test]
    fn sixty_percent_are_looked_up_by_name() {
        let (constants, mut random) = (NonUniform::of(1), Random::at(1, &[]));
        let named =
            (0..10_000).filter(|_| matches!(Who::draw(&constants, &mut random), Who::LastName(_))).count();
        assert!((5_800..6_200).contains(&named), "{named}");
    }
}
