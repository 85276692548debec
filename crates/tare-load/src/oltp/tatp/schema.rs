//! Four tables. What the description lets a subscriber have several of is keyed below the subscriber.

use crate::oltp::{Column, Index, Table, Type};

/// Places in `TABLES`.
pub const SUBSCRIBER: usize = 0;
/// See `SUBSCRIBER`.
pub const ACCESS_INFO: usize = 1;
/// See `SUBSCRIBER`.
pub const SPECIAL_FACILITY: usize = 2;
/// See `SUBSCRIBER`.
pub const CALL_FORWARDING: usize = 3;

const fn int(name: &'static str) -> Column {
    Column::new(name, Type::Int)
}

/// In the order they are made.
pub static TABLES: &[Table] = &[
    Table {
        name: "subscriber",
        columns: &[
            int("s_id"),
            Column::new("sub_nbr", Type::Varchar(15)),
            int("bit_1"),
            int("bit_2"),
            int("bit_3"),
            int("bit_4"),
            int("bit_5"),
            int("bit_6"),
            int("bit_7"),
            int("bit_8"),
            int("bit_9"),
            int("bit_10"),
            int("hex_1"),
            int("hex_2"),
            int("hex_3"),
            int("hex_4"),
            int("hex_5"),
            int("hex_6"),
            int("hex_7"),
            int("hex_8"),
            int("hex_9"),
            int("hex_10"),
            int("byte2_1"),
            int("byte2_2"),
            int("byte2_3"),
            int("byte2_4"),
            int("byte2_5"),
            int("byte2_6"),
            int("byte2_7"),
            int("byte2_8"),
            int("byte2_9"),
            int("byte2_10"),
            // To 2^32 - 1: too much for 32 bits with a sign.
            Column::new("msc_location", Type::BigInt),
            Column::new("vlr_location", Type::BigInt),
        ],
        primary_key: &["s_id"],
        indexes: &[Index { name: "subscriber_sub_nbr", columns: &["sub_nbr"], unique: true }],
    },
    Table {
        name: "access_info",
        columns: &[
            int("s_id"),
            int("ai_type"),
            int("data1"),
            int("data2"),
            Column::new("data3", Type::Char(3)),
            Column::new("data4", Type::Char(5)),
        ],
        primary_key: &["s_id", "ai_type"],
        indexes: &[],
    },
    Table {
        name: "special_facility",
        columns: &[
            int("s_id"),
            int("sf_type"),
            int("is_active"),
            int("error_cntrl"),
            int("data_a"),
            Column::new("data_b", Type::Char(5)),
        ],
        primary_key: &["s_id", "sf_type"],
        indexes: &[],
    },
    Table {
        name: "call_forwarding",
        columns: &[
            int("s_id"),
            int("sf_type"),
            int("start_time"),
            int("end_time"),
            Column::new("numberx", Type::Varchar(15)),
        ],
        primary_key: &["s_id", "sf_type", "start_time"],
        indexes: &[],
    },
];
