//! Nine tables (clause 1.3), in the order of the specification, and how many rows they start with (clauses 1.2 and 4.3).

use crate::oltp::{Column, Index, Table, Type};

/// Of a warehouse.
pub const DISTRICTS: i64 = 10;
/// Of a district.
pub const CUSTOMERS: i64 = 3_000;
/// Of a district, at the start: one for each customer.
pub const ORDERS: i64 = 3_000;
/// Of them, those that are delivered; new orders are what is left.
pub const DELIVERED: i64 = 2_100;
/// In all.
pub const ITEMS: i64 = 100_000;
/// Of an order, at least and at most.
pub const LINES: (i64, i64) = (5, 15);

/// Places in `TABLES`; they also name the tables' streams of random numbers.
pub mod place {
    /// Of `warehouse`.
    pub const WAREHOUSE: usize = 0;
    /// Of `district`.
    pub const DISTRICT: usize = 1;
    /// Of `customer`.
    pub const CUSTOMER: usize = 2;
    /// Of `history`.
    pub const HISTORY: usize = 3;
    /// Of `new_order`.
    pub const NEW_ORDER: usize = 4;
    /// Of `orders`.
    pub const ORDERS: usize = 5;
    /// Of `order_line`.
    pub const ORDER_LINE: usize = 6;
    /// Of `item`.
    pub const ITEM: usize = 7;
    /// Of `stock`.
    pub const STOCK: usize = 8;
}

/// All nine.
pub static TABLES: [Table; 9] =
    [WAREHOUSE, DISTRICT, CUSTOMER, HISTORY, NEW_ORDER, ORDERS_TABLE, ORDER_LINE, ITEM, STOCK];

const MONEY: Type = Type::Decimal(12, 2);
const RATE: Type = Type::Decimal(4, 4);

const WAREHOUSE: Table = Table {
    name: "warehouse",
    columns: &[
        Column::new("w_id", Type::Int),
        Column::new("w_name", Type::Varchar(10)),
        Column::new("w_street_1", Type::Varchar(20)),
        Column::new("w_street_2", Type::Varchar(20)),
        Column::new("w_city", Type::Varchar(20)),
        Column::new("w_state", Type::Char(2)),
        Column::new("w_zip", Type::Char(9)),
        Column::new("w_tax", RATE),
        Column::new("w_ytd", MONEY),
    ],
    primary_key: &["w_id"],
    indexes: &[],
};

const DISTRICT: Table = Table {
    name: "district",
    columns: &[
        Column::new("d_id", Type::Int),
        Column::new("d_w_id", Type::Int),
        Column::new("d_name", Type::Varchar(10)),
        Column::new("d_street_1", Type::Varchar(20)),
        Column::new("d_street_2", Type::Varchar(20)),
        Column::new("d_city", Type::Varchar(20)),
        Column::new("d_state", Type::Char(2)),
        Column::new("d_zip", Type::Char(9)),
        Column::new("d_tax", RATE),
        Column::new("d_ytd", MONEY),
        Column::new("d_next_o_id", Type::Int),
    ],
    primary_key: &["d_w_id", "d_id"],
    indexes: &[],
};

const CUSTOMER: Table = Table {
    name: "customer",
    columns: &[
        Column::new("c_id", Type::Int),
        Column::new("c_d_id", Type::Int),
        Column::new("c_w_id", Type::Int),
        Column::new("c_first", Type::Varchar(16)),
        Column::new("c_middle", Type::Char(2)),
        Column::new("c_last", Type::Varchar(16)),
        Column::new("c_street_1", Type::Varchar(20)),
        Column::new("c_street_2", Type::Varchar(20)),
        Column::new("c_city", Type::Varchar(20)),
        Column::new("c_state", Type::Char(2)),
        Column::new("c_zip", Type::Char(9)),
        Column::new("c_phone", Type::Char(16)),
        Column::new("c_since", Type::Time),
        Column::new("c_credit", Type::Char(2)),
        Column::new("c_credit_lim", MONEY),
        Column::new("c_discount", RATE),
        Column::new("c_balance", MONEY),
        Column::new("c_ytd_payment", MONEY),
        Column::new("c_payment_cnt", Type::Int),
        Column::new("c_delivery_cnt", Type::Int),
        Column::new("c_data", Type::Varchar(500)),
    ],
    primary_key: &["c_w_id", "c_d_id", "c_id"],
    indexes: &[Index {
        name: "customer_by_name",
        columns: &["c_w_id", "c_d_id", "c_last", "c_first"],
        unique: false,
    }],
};

const HISTORY: Table = Table {
    name: "history",
    columns: &[
        Column::new("h_c_id", Type::Int),
        Column::new("h_c_d_id", Type::Int),
        Column::new("h_c_w_id", Type::Int),
        Column::new("h_d_id", Type::Int),
        Column::new("h_w_id", Type::Int),
        Column::new("h_date", Type::Time),
        Column::new("h_amount", Type::Decimal(6, 2)),
        Column::new("h_data", Type::Varchar(24)),
    ],
    primary_key: &[],
    indexes: &[],
};

const NEW_ORDER: Table = Table {
    name: "new_order",
    columns: &[
        Column::new("no_o_id", Type::Int),
        Column::new("no_d_id", Type::Int),
        Column::new("no_w_id", Type::Int),
    ],
    primary_key: &["no_w_id", "no_d_id", "no_o_id"],
    indexes: &[],
};

const ORDERS_TABLE: Table = Table {
    name: "orders",
    columns: &[
        Column::new("o_id", Type::Int),
        Column::new("o_d_id", Type::Int),
        Column::new("o_w_id", Type::Int),
        Column::new("o_c_id", Type::Int),
        Column::new("o_entry_d", Type::Time),
        Column::nullable("o_carrier_id", Type::Int),
        Column::new("o_ol_cnt", Type::Int),
        Column::new("o_all_local", Type::Int),
    ],
    primary_key: &["o_w_id", "o_d_id", "o_id"],
    indexes: &[Index {
        name: "orders_by_customer",
        columns: &["o_w_id", "o_d_id", "o_c_id", "o_id"],
        unique: true,
    }],
};

const ORDER_LINE: Table = Table {
    name: "order_line",
    columns: &[
        Column::new("ol_o_id", Type::Int),
        Column::new("ol_d_id", Type::Int),
        Column::new("ol_w_id", Type::Int),
        Column::new("ol_number", Type::Int),
        Column::new("ol_i_id", Type::Int),
        Column::new("ol_supply_w_id", Type::Int),
        Column::nullable("ol_delivery_d", Type::Time),
        Column::new("ol_quantity", Type::Int),
        Column::new("ol_amount", Type::Decimal(6, 2)),
        Column::new("ol_dist_info", Type::Char(24)),
    ],
    primary_key: &["ol_w_id", "ol_d_id", "ol_o_id", "ol_number"],
    indexes: &[],
};

const ITEM: Table = Table {
    name: "item",
    columns: &[
        Column::new("i_id", Type::Int),
        Column::new("i_im_id", Type::Int),
        Column::new("i_name", Type::Varchar(24)),
        Column::new("i_price", Type::Decimal(5, 2)),
        Column::new("i_data", Type::Varchar(50)),
    ],
    primary_key: &["i_id"],
    indexes: &[],
};

const STOCK: Table = Table {
    name: "stock",
    columns: &[
        Column::new("s_i_id", Type::Int),
        Column::new("s_w_id", Type::Int),
        Column::new("s_quantity", Type::Int),
        Column::new("s_dist_01", Type::Char(24)),
        Column::new("s_dist_02", Type::Char(24)),
        Column::new("s_dist_03", Type::Char(24)),
        Column::new("s_dist_04", Type::Char(24)),
        Column::new("s_dist_05", Type::Char(24)),
        Column::new("s_dist_06", Type::Char(24)),
        Column::new("s_dist_07", Type::Char(24)),
        Column::new("s_dist_08", Type::Char(24)),
        Column::new("s_dist_09", Type::Char(24)),
        Column::new("s_dist_10", Type::Char(24)),
        Column::new("s_ytd", Type::Int),
        Column::new("s_order_cnt", Type::Int),
        Column::new("s_remote_cnt", Type::Int),
        Column::new("s_data", Type::Varchar(50)),
    ],
    primary_key: &["s_w_id", "s_i_id"],
    indexes: &[],
};
