//! Places on the Earth, taken for a sphere.

/// Mean radius, in miles.
const RADIUS: f64 = 3_958.8;
/// Along a meridian.
pub const MILES_A_DEGREE: f64 = RADIUS * std::f64::consts::PI / 180.0;

/// In degrees; north and east are positive.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub latitude: f64,
    pub longitude: f64,
}

impl Place {
    /// Longitudes outside of [-180, 180) are brought into it.
    pub fn new(latitude: f64, longitude: f64) -> Self {
        Self { latitude, longitude: (longitude + 180.0).rem_euclid(360.0) - 180.0 }
    }

    /// Along the great circle, to a hundredth of a mile: mathematical libraries differ behind it.
    pub fn miles_to(self, other: Self) -> f64 {
        let half = |one: f64, other: f64| ((one - other).to_radians() / 2.0).sin().powi(2);
        let (here, there) = (self.latitude.to_radians(), other.latitude.to_radians());
        let haversine = half(self.latitude, other.latitude)
            + here.cos() * there.cos() * half(self.longitude, other.longitude);
        let miles = 2.0 * RADIUS * haversine.sqrt().min(1.0).asin();
        (miles * 100.0).round() / 100.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_of_the_globe_is_a_quarter_of_the_way_round() {
        let quarter = RADIUS * std::f64::consts::FRAC_PI_2;
        let origin = Place::new(0.0, 0.0);
        for other in [Place::new(90.0, 12.0), Place::new(0.0, 90.0), Place::new(0.0, 270.0)] {
            assert!((origin.miles_to(other) - quarter).abs() < 0.01);
        }
        assert_eq!(origin.miles_to(origin), 0.0);
    }

    #[test]
    fn paris_to_new_york_is_some_3_630_miles_either_way() {
        let (paris, new_york) = (Place::new(48.8566, 2.3522), Place::new(40.7128, -74.0060));
        assert!((paris.miles_to(new_york) - 3_628.0).abs() < 5.0, "{}", paris.miles_to(new_york));
        assert_eq!(paris.miles_to(new_york), new_york.miles_to(paris));
    }
}
