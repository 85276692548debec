//! Countries, airports and the routes between them: invented, but as they might lie on a globe.

use crate::oltp::Random;
use crate::oltp::seats::sphere::{MILES_A_DEGREE, Place};
use crate::oltp::seats::weights::Weights;

pub const COUNTRIES: u64 = 200;
pub const AIRPORTS: usize = 300;
pub const AIRLINES: u64 = 1_250;

/// Where countries lie: from the south of Chile to the north of Norway.
const LATITUDES: (f64, f64) = (-55.0, 70.0);
/// Turning by the golden angle spreads points evenly.
const GOLDEN_ANGLE: f64 = 137.507_764_050_037_85;
/// From the middle of a country to its airports, in degrees.
const COUNTRY_RADIUS: f64 = 5.0;
/// Every so many airports, one is near the one before it, in the same city.
const SECOND_AIRPORT: usize = 6;
/// From a city's first airport to its second.
const CITY_MILES: (i64, i64) = (4, 60);

/// Nobody flies less far than this many miles.
const SHORTEST_ROUTE: f64 = 100.0;
/// That an airport chooses for itself; it is also chosen by others, so that it has about twice as many.
const ROUTES_CHOSEN: usize = 8;

/// Streams of the seed.
const PLACE: u64 = 200;
const ROUTES: u64 = 201;

/// Its number in the database is its place among the airports, from 1.
pub struct Airport {
    /// From 0.
    pub country: u64,
    /// Its city's number, from 0.
    pub city: u64,
    pub place: Place,
}

/// The same for the same seed.
pub struct World {
    pub airports: Vec<Airport>,
    /// Of departures.
    pub traffic: Weights,
    /// From each airport: where to, rising, and how often.
    routes: Vec<(Vec<usize>, Weights)>,
}

impl World {
    /// Of a seed.
    pub fn of(seed: u64) -> Self {
        let airports = airports(seed);
        let routes = routes(seed, &airports);
        Self { airports, traffic: Weights::of((0..AIRPORTS).map(traffic)), routes }
    }

    /// The end of a flight that begins there.
    pub fn destination(&self, from: usize, random: &mut Random) -> usize {
        let (to, often) = &self.routes[from];
        to[often.draw(random)]
    }

    /// Great circle.
    pub fn miles(&self, from: usize, to: usize) -> f64 {
        self.airports[from].place.miles_to(self.airports[to].place)
    }
}

/// The first airport has 6% of all departures, the last 0.08%.
fn traffic(airport: usize) -> u64 {
    1_000_000 / (airport as u64 + 4)
}

fn middle(country: u64) -> Place {
    let (south, north) = LATITUDES;
    let share = (country as f64 + 0.5) / COUNTRIES as f64;
    // The sphere's area between two latitudes is that of their sines.
    let (low, high) = (south.to_radians().sin(), north.to_radians().sin());
    let latitude = (low + share * (high - low)).asin().to_degrees();
    Place::new(latitude, country as f64 * GOLDEN_ANGLE)
}

fn airports(seed: u64) -> Vec<Airport> {
    let mut all: Vec<Airport> = Vec::with_capacity(AIRPORTS);
    for number in 0..AIRPORTS {
        let mut random = Random::at(seed, &[PLACE, number as u64]);
        let next = match all.last() {
            Some(first) if number % SECOND_AIRPORT == SECOND_AIRPORT - 1 => beside(first, &mut random),
            _ => anywhere(number as u64, &mut random),
        };
        all.push(next);
    }
    all
}

/// In a country; those of low numbers have more airports.
fn anywhere(city: u64, random: &mut Random) -> Airport {
    let most = random.below(COUNTRIES) + 1;
    let country = random.below(most);
    let middle = middle(country);
    let mut off = || (random.unit() * 2.0 - 1.0) * COUNTRY_RADIUS;
    Airport { country, city, place: Place::new(middle.latitude + off(), middle.longitude + off()) }
}

fn beside(first: &Airport, random: &mut Random) -> Airport {
    let miles = random.between(CITY_MILES.0, CITY_MILES.1) as f64;
    let north = if random.percent(50.0) { miles } else { -miles };
    let place = Place::new(first.place.latitude + north / MILES_A_DEGREE, first.place.longitude);
    Airport { country: first.country, city: first.city, place }
}

/// Larger airports are chosen more often; a route is flown both ways.
fn routes(seed: u64, airports: &[Airport]) -> Vec<(Vec<usize>, Weights)> {
    let sizes = Weights::of((0..AIRPORTS).map(traffic));
    let mut to = vec![Vec::new(); AIRPORTS];
    for from in 0..AIRPORTS {
        let mut random = Random::at(seed, &[ROUTES, from as u64]);
        let mut chosen = 0;
        while chosen < ROUTES_CHOSEN {
            let other = sizes.draw(&mut random);
            if airports[from].place.miles_to(airports[other].place) >= SHORTEST_ROUTE {
                to[from].push(other);
                to[other].push(from);
                chosen += 1;
            }
        }
    }
    to.into_iter()
        .map(|mut to| {
            to.sort_unstable();
            to.dedup();
            let often = Weights::of(to.iter().map(|other| traffic(*other)));
            (to, often)
        })
        .collect()
}
