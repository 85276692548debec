//! What holds of flights and reservations at any time. The benchmark's authors give no conditions; these follow from
//! its rules.

use crate::oltp::{Check, Statement};

/// None of its transactions may break one.
pub static CHECKS: [Check; 12] = [
    Check {
        name: "seats_left",
        says: "F_SEATS_LEFT = F_SEATS_TOTAL - reservations of each flight",
        failing: Statement::new(
            "SELECT f_id, f_seats_total, f_seats_left, coalesce(reserved, 0) AS reserved FROM flight LEFT JOIN \
             (SELECT r_f_id, count(*) AS reserved FROM reservation GROUP BY r_f_id) AS taken ON r_f_id = f_id \
             WHERE f_seats_left <> f_seats_total - coalesce(reserved, 0) ORDER BY f_id",
        ),
    },
    Check {
        name: "seats_range",
        says: "F_SEATS_LEFT is from 0 to F_SEATS_TOTAL, and there are no more reservations than seats",
        failing: Statement::new(
            "SELECT f_id, f_seats_total, f_seats_left, coalesce(reserved, 0) AS reserved FROM flight LEFT JOIN \
             (SELECT r_f_id, count(*) AS reserved FROM reservation GROUP BY r_f_id) AS taken ON r_f_id = f_id \
             WHERE f_seats_left < 0 OR f_seats_left > f_seats_total OR coalesce(reserved, 0) > f_seats_total \
             ORDER BY f_id",
        ),
    },
    Check {
        name: "seat_once",
        says: "No seat of a flight is reserved twice",
        failing: Statement::new(
            "SELECT r_f_id, r_seat, count(*) AS reservations FROM reservation GROUP BY r_f_id, r_seat \
             HAVING count(*) > 1 ORDER BY r_f_id, r_seat",
        ),
    },
    Check {
        name: "customer_once",
        says: "No customer has two seats on a flight",
        failing: Statement::new(
            "SELECT r_f_id, r_c_id, count(*) AS reservations FROM reservation GROUP BY r_f_id, r_c_id \
             HAVING count(*) > 1 ORDER BY r_f_id, r_c_id",
        ),
    },
    Check {
        name: "seat_exists",
        says: "R_SEAT is from 0 to below F_SEATS_TOTAL",
        failing: Statement::new(
            "SELECT r_id, r_f_id, r_seat, f_seats_total FROM reservation JOIN flight ON f_id = r_f_id \
             WHERE r_seat < 0 OR r_seat >= f_seats_total ORDER BY r_id",
        ),
    },
    Check {
        name: "reservation_flight",
        says: "Each reservation is on a flight that exists",
        failing: Statement::new(
            "SELECT r_id, r_f_id FROM reservation LEFT JOIN flight ON f_id = r_f_id WHERE f_id IS NULL ORDER BY r_id",
        ),
    },
    Check {
        name: "reservation_customer",
        says: "Each reservation is of a customer that exists",
        failing: Statement::new(
            "SELECT r_id, r_c_id FROM reservation LEFT JOIN customer ON c_id = r_c_id WHERE c_id IS NULL ORDER BY r_id",
        ),
    },
    Check {
        name: "flight",
        says: "Each flight is of an airline that exists, between two airports that exist, and arrives after it departs",
        failing: Statement::new(
            "SELECT f_id, f_al_id, f_depart_ap_id, f_arrive_ap_id, f_depart_time, f_arrive_time FROM flight \
             LEFT JOIN airline ON al_id = f_al_id LEFT JOIN airport d ON d.ap_id = f_depart_ap_id \
             LEFT JOIN airport a ON a.ap_id = f_arrive_ap_id \
             WHERE al_id IS NULL OR d.ap_id IS NULL OR a.ap_id IS NULL OR f_depart_ap_id = f_arrive_ap_id \
             OR f_arrive_time <= f_depart_time ORDER BY f_id",
        ),
    },
    Check {
        name: "customer",
        says: "Each customer's home airport exists",
        failing: Statement::new(
            "SELECT c_id, c_base_ap_id FROM customer LEFT JOIN airport ON ap_id = c_base_ap_id WHERE ap_id IS NULL \
             ORDER BY c_id",
        ),
    },
    Check {
        name: "frequent_flyer",
        says: "Each frequent flyer is a customer that exists, by his login, with an airline that exists",
        failing: Statement::new(
            "SELECT ff_c_id, ff_al_id, ff_c_id_str, c_id_str FROM frequent_flyer LEFT JOIN customer ON c_id = ff_c_id \
             LEFT JOIN airline ON al_id = ff_al_id \
             WHERE c_id IS NULL OR al_id IS NULL OR c_id_str <> ff_c_id_str ORDER BY ff_c_id, ff_al_id",
        ),
    },
    Check {
        name: "country",
        says: "Each airport and each airline is of a country that exists",
        failing: Statement::new(
            "SELECT 'airport' AS place, ap_id AS id, ap_co_id AS co FROM airport \
             LEFT JOIN country ON co_id = ap_co_id WHERE co_id IS NULL UNION ALL \
             SELECT 'airline', al_id, al_co_id FROM airline LEFT JOIN country ON co_id = al_co_id \
             WHERE co_id IS NULL ORDER BY 1, 2",
        ),
    },
    Check {
        name: "airport_distance",
        says: "Each distance is between two airports that exist, above 0, and the same both ways",
        failing: Statement::new(
            "SELECT t.d_ap_id0, t.d_ap_id1, t.d_distance, b.d_distance AS d_back FROM airport_distance t \
             LEFT JOIN airport_distance b ON b.d_ap_id0 = t.d_ap_id1 AND b.d_ap_id1 = t.d_ap_id0 \
             LEFT JOIN airport f ON f.ap_id = t.d_ap_id0 LEFT JOIN airport a ON a.ap_id = t.d_ap_id1 \
             WHERE f.ap_id IS NULL OR a.ap_id IS NULL OR t.d_distance <= 0 OR b.d_distance IS NULL \
             OR b.d_distance <> t.d_distance ORDER BY t.d_ap_id0, t.d_ap_id1",
        ),
    },
];
