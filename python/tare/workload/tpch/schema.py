"""TPC-H's eight tables (specification 3.0.1, §1.4), in the order in which their keys refer to each other."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    name: str
    columns: str
    key: str

    @property
    def create(self) -> str:
        """The statement that makes the table, in SQL that every supported DBMS takes."""
        return f"CREATE TABLE {self.name} ({self.columns}, PRIMARY KEY ({self.key}))"


_MONEY = "decimal(15,2) NOT NULL"

TABLES = (
    Table(
        "region",
        "r_regionkey integer NOT NULL, r_name char(25) NOT NULL, r_comment varchar(152)",
        "r_regionkey",
    ),
    Table(
        "nation",
        "n_nationkey integer NOT NULL, n_name char(25) NOT NULL, n_regionkey integer NOT NULL, n_comment varchar(152)",
        "n_nationkey",
    ),
    Table(
        "supplier",
        "s_suppkey integer NOT NULL, s_name char(25) NOT NULL, s_address varchar(40) NOT NULL, "
        f"s_nationkey integer NOT NULL, s_phone char(15) NOT NULL, s_acctbal {_MONEY}, s_comment varchar(101) NOT NULL",
        "s_suppkey",
    ),
    Table(
        "part",
        "p_partkey integer NOT NULL, p_name varchar(55) NOT NULL, p_mfgr char(25) NOT NULL, p_brand char(10) NOT NULL, "
        "p_type varchar(25) NOT NULL, p_size integer NOT NULL, p_container char(10) NOT NULL, "
        f"p_retailprice {_MONEY}, p_comment varchar(23) NOT NULL",
        "p_partkey",
    ),
    Table(
        "partsupp",
        "ps_partkey integer NOT NULL, ps_suppkey integer NOT NULL, ps_availqty integer NOT NULL, "
        f"ps_supplycost {_MONEY}, ps_comment varchar(199) NOT NULL",
        "ps_partkey, ps_suppkey",
    ),
    Table(
        "customer",
        "c_custkey integer NOT NULL, c_name varchar(25) NOT NULL, c_address varchar(40) NOT NULL, "
        f"c_nationkey integer NOT NULL, c_phone char(15) NOT NULL, c_acctbal {_MONEY}, "
        "c_mktsegment char(10) NOT NULL, c_comment varchar(117) NOT NULL",
        "c_custkey",
    ),
    Table(
        "orders",
        "o_orderkey bigint NOT NULL, o_custkey integer NOT NULL, o_orderstatus char(1) NOT NULL, "
        f"o_totalprice {_MONEY}, o_orderdate date NOT NULL, o_orderpriority char(15) NOT NULL, "
        "o_clerk char(15) NOT NULL, o_shippriority integer NOT NULL, o_comment varchar(79) NOT NULL",
        "o_orderkey",
    ),
    Table(
        "lineitem",
        "l_orderkey bigint NOT NULL, l_partkey integer NOT NULL, l_suppkey integer NOT NULL, "
        f"l_linenumber integer NOT NULL, l_quantity {_MONEY}, l_extendedprice {_MONEY}, l_discount {_MONEY}, "
        f"l_tax {_MONEY}, l_returnflag char(1) NOT NULL, l_linestatus char(1) NOT NULL, l_shipdate date NOT NULL, "
        "l_commitdate date NOT NULL, l_receiptdate date NOT NULL, l_shipinstruct char(25) NOT NULL, "
        "l_shipmode char(10) NOT NULL, l_comment varchar(44) NOT NULL",
        "l_orderkey, l_linenumber",
    ),
)

INDEXES = (
    "CREATE INDEX lineitem_part ON lineitem (l_partkey, l_suppkey)",
    "CREATE INDEX orders_customer ON orders (o_custkey)",
    "CREATE INDEX partsupp_supplier ON partsupp (ps_suppkey)",
)
"""Indexes on foreign keys (§1.5 allows them), for DBMSs that join by index."""
