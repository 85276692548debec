//! What holds of reviews and trust at any time. The benchmark's authors give no conditions; these follow from its rules.

use crate::oltp::{Check, Statement};

/// None of its transactions may break one.
pub static CHECKS: [Check; 10] = [
    Check {
        name: "review_user",
        says: "Each review is by a user that exists",
        failing: Statement::new(
            "SELECT r.a_id, r.u_id FROM review r LEFT JOIN useracct u ON u.u_id = r.u_id WHERE u.u_id IS NULL \
             ORDER BY r.a_id",
        ),
    },
    Check {
        name: "review_item",
        says: "Each review is of an item that exists",
        failing: Statement::new(
            "SELECT r.a_id, r.i_id FROM review r LEFT JOIN item i ON i.i_id = r.i_id WHERE i.i_id IS NULL \
             ORDER BY r.a_id",
        ),
    },
    Check {
        name: "review_number",
        says: "No two reviews have the same number",
        failing: Statement::new(
            "SELECT a_id, count(*) AS reviews FROM review GROUP BY a_id HAVING count(*) > 1 ORDER BY a_id",
        ),
    },
    Check {
        name: "review_once",
        says: "Nobody has reviewed an item twice",
        failing: Statement::new(
            "SELECT i_id, u_id, count(*) AS reviews FROM review GROUP BY i_id, u_id HAVING count(*) > 1 \
             ORDER BY i_id, u_id",
        ),
    },
    Check {
        name: "item_reviewed",
        says: "Each item has at least one review",
        failing: Statement::new(
            "SELECT i.i_id FROM item i LEFT JOIN (SELECT DISTINCT i_id FROM review) r ON r.i_id = i.i_id \
             WHERE r.i_id IS NULL ORDER BY i.i_id",
        ),
    },
    Check {
        name: "rating_range",
        says: "Each review rates its item from 0 to 4",
        failing: Statement::new(
            "SELECT a_id, i_id, u_id, rating FROM review WHERE rating IS NULL OR rating < 0 OR rating > 4 \
             ORDER BY a_id",
        ),
    },
    Check {
        name: "review_rating",
        says: "Each rating of a review is of one that exists, by a user that exists",
        failing: Statement::new(
            "SELECT g.u_id, g.a_id FROM review_rating g LEFT JOIN useracct u ON u.u_id = g.u_id \
             LEFT JOIN review r ON r.a_id = g.a_id WHERE u.u_id IS NULL OR r.a_id IS NULL ORDER BY g.u_id, g.a_id",
        ),
    },
    Check {
        name: "trust_user",
        says: "Each trust is of a user that exists in one that exists",
        failing: Statement::new(
            "SELECT t.source_u_id, t.target_u_id FROM trust t LEFT JOIN useracct s ON s.u_id = t.source_u_id \
             LEFT JOIN useracct u ON u.u_id = t.target_u_id WHERE s.u_id IS NULL OR u.u_id IS NULL \
             ORDER BY t.source_u_id, t.target_u_id",
        ),
    },
    Check {
        name: "trust_once",
        says: "Nobody has said twice whether he trusts another",
        failing: Statement::new(
            "SELECT source_u_id, target_u_id, count(*) AS trusts FROM trust GROUP BY source_u_id, target_u_id \
             HAVING count(*) > 1 ORDER BY source_u_id, target_u_id",
        ),
    },
    Check {
        name: "trust_range",
        says: "Each trust is 0 or 1",
        failing: Statement::new(
            "SELECT source_u_id, target_u_id, trust FROM trust WHERE trust < 0 OR trust > 1 \
             ORDER BY source_u_id, target_u_id",
        ),
    },
];
