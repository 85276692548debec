//! What the population's rules leave true under every transaction.

use crate::oltp::{Check, Statement};

/// By table, in their order.
pub static CHECKS: &[Check] = &[
    Check {
        name: "subscriber_ids",
        says: "subscribers are numbered from 1 without a gap",
        failing: Statement::new(
            "SELECT lowest, highest, rows_there FROM (SELECT min(s_id) AS lowest, max(s_id) AS highest, \
             count(*) AS rows_there FROM subscriber) counted WHERE lowest <> 1 OR highest <> rows_there",
        ),
    },
    Check {
        name: "subscriber_numbers",
        says: "a subscriber's number is its id in fifteen digits",
        failing: Statement::new(
            "SELECT s_id, sub_nbr FROM subscriber WHERE sub_nbr <> lpad(CAST(s_id AS varchar(15)), 15, '0')",
        )
        .mariadb("SELECT s_id, sub_nbr FROM subscriber WHERE sub_nbr <> lpad(s_id, 15, '0')")
        .sqlite("SELECT s_id, sub_nbr FROM subscriber WHERE sub_nbr <> printf('%015d', s_id)"),
    },
    Check {
        name: "subscriber_fields",
        says: "bits are 0 or 1, hex fields 0 to 15, byte2 fields 0 to 255, locations 1 to 2^32 - 1",
        failing: Statement::new(
            "SELECT s_id, bit_1, bit_2, bit_3, bit_4, bit_5, bit_6, bit_7, bit_8, bit_9, bit_10, \
             hex_1, hex_2, hex_3, hex_4, hex_5, hex_6, hex_7, hex_8, hex_9, hex_10, \
             byte2_1, byte2_2, byte2_3, byte2_4, byte2_5, byte2_6, byte2_7, byte2_8, byte2_9, byte2_10, \
             msc_location, vlr_location FROM subscriber WHERE NOT (bit_1 BETWEEN 0 AND 1 \
             AND bit_2 BETWEEN 0 AND 1 AND bit_3 BETWEEN 0 AND 1 AND bit_4 BETWEEN 0 AND 1 \
             AND bit_5 BETWEEN 0 AND 1 AND bit_6 BETWEEN 0 AND 1 AND bit_7 BETWEEN 0 AND 1 \
             AND bit_8 BETWEEN 0 AND 1 AND bit_9 BETWEEN 0 AND 1 AND bit_10 BETWEEN 0 AND 1 \
             AND hex_1 BETWEEN 0 AND 15 AND hex_2 BETWEEN 0 AND 15 AND hex_3 BETWEEN 0 AND 15 \
             AND hex_4 BETWEEN 0 AND 15 AND hex_5 BETWEEN 0 AND 15 AND hex_6 BETWEEN 0 AND 15 \
             AND hex_7 BETWEEN 0 AND 15 AND hex_8 BETWEEN 0 AND 15 AND hex_9 BETWEEN 0 AND 15 \
             AND hex_10 BETWEEN 0 AND 15 AND byte2_1 BETWEEN 0 AND 255 AND byte2_2 BETWEEN 0 AND 255 \
             AND byte2_3 BETWEEN 0 AND 255 AND byte2_4 BETWEEN 0 AND 255 AND byte2_5 BETWEEN 0 AND 255 \
             AND byte2_6 BETWEEN 0 AND 255 AND byte2_7 BETWEEN 0 AND 255 AND byte2_8 BETWEEN 0 AND 255 \
             AND byte2_9 BETWEEN 0 AND 255 AND byte2_10 BETWEEN 0 AND 255 \
             AND msc_location BETWEEN 1 AND 4294967295 AND vlr_location BETWEEN 1 AND 4294967295)",
        ),
    },
    Check {
        name: "access_info_counts",
        says: "each subscriber has 1 to 4 rows in access_info",
        failing: Statement::new(
            "SELECT s.s_id, count(a.s_id) AS rows_there FROM subscriber s LEFT JOIN access_info a \
             ON a.s_id = s.s_id GROUP BY s.s_id HAVING count(a.s_id) NOT BETWEEN 1 AND 4",
        ),
    },
    Check {
        name: "access_info_subscribers",
        says: "each row of access_info has its subscriber",
        failing: Statement::new(
            "SELECT a.s_id, a.ai_type FROM access_info a LEFT JOIN subscriber s ON s.s_id = a.s_id \
             WHERE s.s_id IS NULL",
        ),
    },
    Check {
        name: "access_info_fields",
        says: "ai_type is 1 to 4, data1 and data2 are 0 to 255, data3 has 3 characters and data4 has 5",
        failing: Statement::new(
            "SELECT s_id, ai_type, data1, data2, data3, data4 FROM access_info \
             WHERE NOT (ai_type BETWEEN 1 AND 4 AND data1 BETWEEN 0 AND 255 AND data2 BETWEEN 0 AND 255 \
             AND length(data3) = 3 AND length(data4) = 5)",
        ),
    },
    Check {
        name: "special_facility_counts",
        says: "each subscriber has 1 to 4 rows in special_facility",
        failing: Statement::new(
            "SELECT s.s_id, count(f.s_id) AS rows_there FROM subscriber s LEFT JOIN special_facility f \
             ON f.s_id = s.s_id GROUP BY s.s_id HAVING count(f.s_id) NOT BETWEEN 1 AND 4",
        ),
    },
    Check {
        name: "special_facility_subscribers",
        says: "each row of special_facility has its subscriber",
        failing: Statement::new(
            "SELECT f.s_id, f.sf_type FROM special_facility f LEFT JOIN subscriber s ON s.s_id = f.s_id \
             WHERE s.s_id IS NULL",
        ),
    },
    Check {
        name: "special_facility_fields",
        says: "sf_type is 1 to 4, is_active 0 or 1, error_cntrl and data_a are 0 to 255, data_b has 5 characters",
        failing: Statement::new(
            "SELECT s_id, sf_type, is_active, error_cntrl, data_a, data_b FROM special_facility \
             WHERE NOT (sf_type BETWEEN 1 AND 4 AND is_active BETWEEN 0 AND 1 \
             AND error_cntrl BETWEEN 0 AND 255 AND data_a BETWEEN 0 AND 255 AND length(data_b) = 5)",
        ),
    },
    Check {
        name: "call_forwarding_facilities",
        says: "each row of call_forwarding has its special facility",
        failing: Statement::new(
            "SELECT c.s_id, c.sf_type, c.start_time FROM call_forwarding c LEFT JOIN special_facility f \
             ON f.s_id = c.s_id AND f.sf_type = c.sf_type WHERE f.s_id IS NULL",
        ),
    },
    Check {
        name: "call_forwarding_hours",
        says: "a call forwarding starts at 0, 8 or 16 and ends at 1 to 24 (loaded ones 1 to 8 hours later)",
        failing: Statement::new(
            "SELECT s_id, sf_type, start_time, end_time FROM call_forwarding \
             WHERE start_time NOT IN (0, 8, 16) OR end_time NOT BETWEEN 1 AND 24",
        ),
    },
    Check {
        name: "call_forwarding_numbers",
        says: "calls are forwarded to numbers of fifteen digits",
        failing: Statement::new(
            "SELECT s_id, sf_type, start_time, numberx FROM call_forwarding WHERE length(numberx) <> 15",
        ),
    },
];
