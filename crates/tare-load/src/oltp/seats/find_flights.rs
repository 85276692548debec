//! Which flights there are from one airport to another or to one near it, in some days.

use crate::oltp::seats::timetable::DAY;
use crate::oltp::seats::world::AIRPORTS;
use crate::oltp::seats::{Seats, missing};
use crate::oltp::{Connection, Ended, Failure, Random, Statement, Transaction, Value};

static NEARBY: Statement = Statement::new(
    "SELECT d_ap_id1, d_distance FROM airport_distance WHERE d_ap_id0 = $1 AND d_distance <= $2 ORDER BY d_distance",
);
static FLIGHTS: Statement = Statement::new(
    "SELECT f_id, f_al_id, f_seats_left, f_depart_ap_id, f_depart_time, f_arrive_ap_id, f_arrive_time, al_name, \
     al_iattr00, al_iattr01 FROM flight, airline \
     WHERE f_depart_ap_id = $1 AND f_depart_time >= $2 AND f_depart_time <= $3 AND f_al_id = al_id \
     AND f_arrive_ap_id IN ($4, $5, $6)",
);
static ABOUT: Statement = Statement::new(
    "SELECT ap_code, ap_name, ap_city, ap_longitude, ap_latitude, co_id, co_name, co_code_2, co_code_3 \
     FROM airport, country WHERE ap_id = $1 AND ap_co_id = co_id",
);

/// Percent that name any two airports, rather than those of a flight.
const ANY_AIRPORTS: f64 = 10.0;
/// Percent that look near the destination too.
const NEAR: f64 = 25.0;
/// Miles.
const DISTANCES: [f64; 5] = [5.0, 10.0, 25.0, 50.0, 100.0];
/// The destination, and at most two near it.
const DESTINATIONS: usize = 3;

pub struct FindFlights {
    from: i64,
    to: i64,
    not_before: i64,
    not_after: i64,
    near: Option<f64>,
}

impl FindFlights {
    pub fn draw(seats: &Seats, random: &mut Random) -> Self {
        let any = random.percent(ANY_AIRPORTS);
        let near = random.percent(NEAR).then(|| *random.one_of(&DISTANCES));
        if any {
            let from = random.below(AIRPORTS as u64) as i64;
            let further = random.between(1, AIRPORTS as i64 - 1);
            let days = random.below(seats.timetable.days_to_come().max(1)) as i64;
            let not_before = seats.timetable.today + days * DAY;
            let to = (from + further) % AIRPORTS as i64;
            Self { from: from + 1, to: to + 1, not_before, not_after: not_before + 2 * DAY, near }
        } else {
            let flight = seats.timetable.flight(seats.timetable.sought(random), &seats.world);
            let (from, to) = (flight.from as i64 + 1, flight.to as i64 + 1);
            Self { from, to, not_before: flight.departs - DAY / 2, not_after: flight.departs + DAY / 2, near }
        }
    }

    /// Filled up with the destination itself, so that one statement will do.
    fn destinations(&self, on: &mut dyn Connection) -> Result<[i64; DESTINATIONS], Failure> {
        let mut all = [self.to; DESTINATIONS];
        if let Some(miles) = self.near {
            let found = on.rows(&NEARBY, &[self.to.into(), miles.into()])?;
            for (place, row) in all[1..].iter_mut().zip(found) {
                *place = row.int(0)?;
            }
        }
        Ok(all)
    }
}

impl Transaction for FindFlights {
    fn run(&self, on: &mut dyn Connection) -> Result<Ended, Failure> {
        let [first, second, third] = self.destinations(on)?;
        let period = [Value::Time(self.not_before), Value::Time(self.not_after)];
        let [not_before, not_after] = period;
        let asked = [self.from.into(), not_before, not_after, first.into(), second.into(), third.into()];
        for flight in on.rows(&FLIGHTS, &asked)? {
            for airport in [flight.int(3)?, flight.int(5)?] {
                let about = on.row(&ABOUT, &[airport.into()])?;
                about.ok_or_else(|| missing(format_args!("airport {airport} with a country")))?;
            }
        }
        Ok(Ended::Commit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oltp::Options;

    #[test]
    fn one_in_four_looks_nearby_and_one_in_ten_names_any_airports() {
        let seats = Seats::new(0.1, 42, Options::default()).unwrap();
        let mut random = Random::at(1, &[]);
        let all: Vec<_> = (0..20_000).map(|_| FindFlights::draw(&seats, &mut random)).collect();
        let near = all.iter().filter(|find| find.near.is_some()).count();
        let any = all.iter().filter(|find| find.not_after - find.not_before == 2 * DAY).count();
        assert!(near.abs_diff(5_000) < 300 && any.abs_diff(2_000) < 220, "{near}, {any}");
        let airports = 1..=AIRPORTS as i64;
        assert!(all.iter().all(|find| airports.contains(&find.from) && airports.contains(&find.to)));
        assert!(all.iter().all(|find| find.from != find.to));
    }
}
