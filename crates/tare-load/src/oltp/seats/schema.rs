//! Eight tables and their indexes. Attributes without a meaning (`…iattr00`, `…sattr00`) make rows as wide as real ones.

use crate::oltp::Type::{BigInt, Decimal, Float, Time, Varchar};
use crate::oltp::{Column, Index, Table};

/// Places in `TABLES`.
pub const COUNTRY: usize = 0;
/// See `COUNTRY`.
pub const AIRPORT: usize = 1;
/// See `COUNTRY`.
pub const AIRPORT_DISTANCE: usize = 2;
/// See `COUNTRY`.
pub const AIRLINE: usize = 3;
/// See `COUNTRY`.
pub const CUSTOMER: usize = 4;
/// See `COUNTRY`.
pub const FREQUENT_FLYER: usize = 5;
/// See `COUNTRY`.
pub const FLIGHT: usize = 6;
/// See `COUNTRY`.
pub const RESERVATION: usize = 7;

/// A name with each of its endings is a column.
macro_rules! columns {
    ($($name:literal [$($ending:literal)+] $kind:expr;)+) => {
        &[$($(Column::new(concat!($name, $ending), $kind)),+),+]
    };
}

/// In the order they are made.
pub static TABLES: [Table; 8] = [
    Table {
        name: "country",
        columns: columns![
            "co_id" [""] BigInt;
            "co_name" [""] Varchar(64);
            "co_code_2" [""] Varchar(2);
            "co_code_3" [""] Varchar(3);
        ],
        primary_key: &["co_id"],
        indexes: &[],
    },
    Table {
        name: "airport",
        columns: columns![
            "ap_id" [""] BigInt;
            "ap_code" [""] Varchar(3);
            "ap_name" [""] Varchar(128);
            "ap_city" [""] Varchar(64);
            "ap_postal_code" [""] Varchar(12);
            "ap_co_id" [""] BigInt;
            "ap_longitude" [""] Float;
            "ap_latitude" [""] Float;
            "ap_gmt_offset" [""] Float;
            "ap_wac" [""] BigInt;
            "ap_iattr" [
                "00" "01" "02" "03" "04" "05" "06" "07" "08" "09" "10" "11" "12" "13" "14" "15"
            ] BigInt;
        ],
        primary_key: &["ap_id"],
        indexes: &[],
    },
    Table {
        name: "airport_distance",
        columns: columns![
            "d_ap_id0" [""] BigInt;
            "d_ap_id1" [""] BigInt;
            "d_distance" [""] Float;
        ],
        primary_key: &["d_ap_id0", "d_ap_id1"],
        indexes: &[],
    },
    Table {
        name: "airline",
        columns: columns![
            "al_id" [""] BigInt;
            "al_iata_code" [""] Varchar(3);
            "al_icao_code" [""] Varchar(3);
            "al_call_sign" [""] Varchar(32);
            "al_name" [""] Varchar(128);
            "al_co_id" [""] BigInt;
            "al_iattr" [
                "00" "01" "02" "03" "04" "05" "06" "07" "08" "09" "10" "11" "12" "13" "14" "15"
            ] BigInt;
        ],
        primary_key: &["al_id"],
        indexes: &[],
    },
    Table {
        name: "customer",
        columns: columns![
            "c_id" [""] BigInt;
            "c_id_str" [""] Varchar(64);
            "c_base_ap_id" [""] BigInt;
            "c_balance" [""] Decimal(14, 2);
            "c_sattr" ["00"] Varchar(32);
            "c_sattr" [
                "01" "02" "03" "04" "05" "06" "07" "08" "09" "10" "11" "12" "13" "14" "15" "16"
                "17" "18" "19"
            ] Varchar(8);
            "c_iattr" [
                "00" "01" "02" "03" "04" "05" "06" "07" "08" "09" "10" "11" "12" "13" "14" "15"
                "16" "17" "18" "19"
            ] BigInt;
        ],
        primary_key: &["c_id"],
        indexes: &[Index { name: "customer_c_id_str_key", columns: &["c_id_str"], unique: true }],
    },
    Table {
        name: "frequent_flyer",
        columns: columns![
            "ff_c_id" [""] BigInt;
            "ff_al_id" [""] BigInt;
            "ff_c_id_str" [""] Varchar(64);
            "ff_sattr" ["00" "01" "02" "03"] Varchar(32);
            "ff_iattr" [
                "00" "01" "02" "03" "04" "05" "06" "07" "08" "09" "10" "11" "12" "13" "14" "15"
            ] BigInt;
        ],
        primary_key: &["ff_c_id", "ff_al_id"],
        indexes: &[Index { name: "idx_ff_customer_id", columns: &["ff_c_id_str"], unique: false }],
    },
    Table {
        name: "flight",
        columns: columns![
            "f_id" [""] BigInt;
            "f_al_id" [""] BigInt;
            "f_depart_ap_id" [""] BigInt;
            "f_depart_time" [""] Time;
            "f_arrive_ap_id" [""] BigInt;
            "f_arrive_time" [""] Time;
            "f_status" [""] BigInt;
            "f_base_price" [""] Decimal(12, 2);
            "f_seats_total" [""] BigInt;
            "f_seats_left" [""] BigInt;
            "f_iattr" [
                "00" "01" "02" "03" "04" "05" "06" "07" "08" "09" "10" "11" "12" "13" "14" "15"
                "16" "17" "18" "19" "20" "21" "22" "23" "24" "25" "26" "27" "28" "29"
            ] BigInt;
        ],
        primary_key: &["f_id"],
        indexes: &[Index { name: "f_depart_time_idx", columns: &["f_depart_time"], unique: false }],
    },
    Table {
        name: "reservation",
        columns: columns![
            "r_id" [""] BigInt;
            "r_c_id" [""] BigInt;
            "r_f_id" [""] BigInt;
            "r_seat" [""] BigInt;
            "r_price" [""] Decimal(12, 2);
            "r_iattr" ["00" "01" "02" "03" "04" "05" "06" "07" "08"] BigInt;
        ],
        primary_key: &["r_id", "r_c_id", "r_f_id"],
        indexes: &[
            Index { name: "reservation_seat_key", columns: &["r_f_id", "r_seat"], unique: true },
            Index { name: "reservation_customer_key", columns: &["r_f_id", "r_c_id"], unique: true },
        ],
    },
];
