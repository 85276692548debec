//! Five tables and their indexes.

use crate::oltp::{Column, Index, Table, Type};

/// `useracct` in `TABLES`.
pub const USER: usize = 0;
/// `item` there.
pub const ITEM: usize = 1;
/// `review` there.
pub const REVIEW: usize = 2;
/// `trust` there.
pub const TRUST: usize = 4;

const fn plain(name: &'static str, columns: &'static [&'static str]) -> Index {
    Index { name, columns, unique: false }
}

/// In the order they are made.
pub static TABLES: [Table; 5] = [
    Table {
        name: "useracct",
        columns: &[
            Column::new("u_id", Type::Int),
            Column::new("name", Type::Varchar(128)),
            Column::new("email", Type::Varchar(128)),
            Column::new("creation_date", Type::Time),
        ],
        primary_key: &["u_id"],
        indexes: &[],
    },
    Table {
        name: "item",
        columns: &[
            Column::new("i_id", Type::Int),
            Column::new("title", Type::Varchar(128)),
            Column::new("description", Type::Varchar(512)),
            Column::new("creation_date", Type::Time),
        ],
        primary_key: &["i_id"],
        indexes: &[],
    },
    Table {
        name: "review",
        columns: &[
            Column::new("a_id", Type::Int),
            Column::new("u_id", Type::Int),
            Column::new("i_id", Type::Int),
            Column::nullable("rating", Type::Int),
            Column::nullable("review_rank", Type::Int),
            Column::nullable("review_text", Type::Varchar(256)),
            Column::new("creation_date", Type::Time),
        ],
        primary_key: &[],
        indexes: &[
            plain("idx_rating_uid", &["u_id"]),
            plain("idx_rating_aid", &["a_id"]),
            plain("idx_rating_iid", &["i_id"]),
        ],
    },
    Table {
        name: "review_rating",
        columns: &[
            Column::new("u_id", Type::Int),
            Column::new("a_id", Type::Int),
            Column::new("rating", Type::Int),
            Column::new("status", Type::Int),
            Column::nullable("creation_date", Type::Time),
            Column::nullable("last_mod_date", Type::Time),
            Column::nullable("rating_type", Type::Int),
            Column::nullable("vertical_id", Type::Int),
        ],
        primary_key: &[],
        indexes: &[plain("idx_review_rating_uid", &["u_id"]), plain("idx_review_rating_aid", &["a_id"])],
    },
    Table {
        name: "trust",
        columns: &[
            Column::new("source_u_id", Type::Int),
            Column::new("target_u_id", Type::Int),
            Column::new("trust", Type::Int),
            Column::new("creation_date", Type::Time),
        ],
        primary_key: &[],
        indexes: &[plain("idx_trust_sid", &["source_u_id"]), plain("idx_trust_tid", &["target_u_id"])],
    },
];
