//! The counts of transactions, declared once: the table below is their only source.
//!
//! From it come the struct that travels as JSON, the ends of an arrival, what the driver adds up, and through
//! [`contract`](super::contract) the Python model, the lab's columns, the report's document and its words.
//! After an edit run `make generated`.

use std::ops::{Add, AddAssign};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The part that a count plays in a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Arrivals before they have ended.
    Arrival,
    /// Ends as the workload's specification has them: their times count.
    Finished,
    /// Ends of what was sent and did not finish.
    Failed,
    /// Ends of what was never sent.
    Unsent,
    /// Tries beyond the first. They are no ends.
    Retry,
}

/// One line of the table.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Count {
    /// Name of the field and of the lab's columns.
    pub name: &'static str,
    /// See `Role`.
    pub role: Role,
    /// Name in reports.
    pub words: &'static str,
    /// Definition, a sentence.
    pub meaning: &'static str,
    /// End of an arrival that it counts. None: it counts no ends.
    pub end: Option<End>,
}

macro_rules! counts {
    (
        arrivals { $($(#[doc = $arrival_meaning:literal])+ $arrival:ident: $arrival_words:literal;)+ }
        ends {
            $($(#[doc = $end_meaning:literal])+ $count:ident: $end_words:literal = $end:ident($number:literal) $role:ident;)+
        }
        retries { $($(#[doc = $retry_meaning:literal])+ $retry:ident: $retry_words:literal = $trouble:ident;)+ }
    ) => {
        /// Every arrival ends in exactly one of the ends; their sum is `offered`.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub struct Counts {
            $($(#[doc = $arrival_meaning])+ pub $arrival: u64,)+
            $($(#[doc = $end_meaning])+ pub $count: u64,)+
            $($(#[doc = $retry_meaning])+ pub $retry: u64,)+
        }

        /// All counts, in the order in which they are listed.
        pub const COUNTS: &[Count] = &[
            $(Count {
                name: stringify!($arrival),
                role: Role::Arrival,
                words: $arrival_words,
                meaning: concat!($($arrival_meaning),+).trim_ascii(),
                end: None,
            },)+
            $(Count {
                name: stringify!($count),
                role: Role::$role,
                words: $end_words,
                meaning: concat!($($end_meaning),+).trim_ascii(),
                end: Some(End::$end),
            },)+
            $(Count {
                name: stringify!($retry),
                role: Role::Retry,
                words: $retry_words,
                meaning: concat!($($retry_meaning),+).trim_ascii(),
                end: None,
            },)+
        ];

        /// How an arrival ended. The samples' file holds the numbers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
        #[serde(rename_all = "snake_case")]
        #[repr(u8)]
        pub enum End {
            $($(#[doc = $end_meaning])+ $end = $number,)+
        }

        impl End {
            pub(super) fn role(self) -> Role {
                match self {
                    $(Self::$end => Role::$role,)+
                }
            }

            /// The count of this end.
            pub(super) fn count(self, counts: &mut Counts) -> &mut u64 {
                match self {
                    $(Self::$end => &mut counts.$count,)+
                }
            }
        }

        /// Tries of one arrival beyond the first, by the trouble that made them necessary.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Retried {
            $($(#[doc = $retry_meaning])+ pub $trouble: u8,)+
        }

        impl Retried {
            pub(super) fn add_to(self, counts: &mut Counts) {
                $(counts.$retry += u64::from(self.$trouble);)+
            }
        }

        impl Counts {
            /// Each value with its line of the table.
            pub(super) fn values(&self) -> impl Iterator<Item = (&'static Count, u64)> {
                COUNTS.iter().zip([$(self.$arrival,)+ $(self.$count,)+ $(self.$retry,)+])
            }
        }

        impl AddAssign for Counts {
            fn add_assign(&mut self, other: Self) {
                $(self.$arrival += other.$arrival;)+
                $(self.$count += other.$count;)+
                $(self.$retry += other.$retry;)+
            }
        }
    };
}

counts! {
    arrivals {
        /// Arrivals that were due; in a closed loop, those that were started.
        offered: "offered";
        /// Arrivals that were sent to the DBMS at least once.
        started: "started";
    }
    ends {
        /// Committed.
        committed: "committed" = Committed(0) Finished;
        /// Rolled back, as the workload's specification has it.
        rolled_back: "rolled back" = RolledBack(1) Finished;
        /// The last try ended in a deadlock.
        deadlocks: "deadlocks" = Deadlock(2) Failed;
        /// The last try ended in a serialization failure.
        serialization_failures: "serialization failures" = SerializationFailure(3) Failed;
        /// The last try ended in a lock time-out.
        lock_timeouts: "lock time-outs" = LockTimeout(4) Failed;
        /// The connection broke; whether the transaction committed is not known.
        lost: "lost" = Lost(5) Failed;
        /// Any other error of the DBMS.
        errors: "errors" = Error(6) Failed;
        /// Not sent, because it was too late.
        shed: "shed" = Shed(7) Unsent;
        /// Not sent by the end of the drain.
        unstarted: "never started" = Unstarted(8) Unsent;
    }
    retries {
        /// Tries after a deadlock.
        retried_deadlock: "retries: deadlock" = deadlock;
        /// Tries after a serialization failure.
        retried_serialization: "retries: serialization failure" = serialization;
        /// Tries after a lock time-out.
        retried_lock_timeout: "retries: lock time-out" = lock_timeout;
    }
}

impl Counts {
    /// Sum of the counts that play one of these parts.
    pub(super) fn sum(&self, roles: &[Role]) -> u64 {
        self.values().filter(|(count, _)| roles.contains(&count.role)).map(|(_, value)| value).sum()
    }

    /// Arrivals that came to an end of any kind.
    pub(super) fn ended(&self) -> u64 {
        self.sum(&[Role::Finished, Role::Failed, Role::Unsent])
    }
}

impl Add for Counts {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl End {
    /// Whether it is an end as the workload's specification has it.
    pub fn is_good(self) -> bool {
        self.role() == Role::Finished
    }

    /// Whether the arrival was never sent.
    pub fn is_unsent(self) -> bool {
        self.role() == Role::Unsent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_are_numbered_from_0_without_a_gap() {
        let numbers: Vec<u8> = COUNTS.iter().filter_map(|count| count.end).map(|end| end as u8).collect();
        assert_eq!(numbers, (0..numbers.len() as u8).collect::<Vec<_>>());
    }

    #[test]
    fn each_count_travels_under_its_name_and_is_added_to_its_like() {
        let each = serde_json::Value::Object(
            COUNTS.iter().zip(1_u64..).map(|(count, value)| (count.name.to_owned(), value.into())).collect(),
        );
        let counts: Counts = serde_json::from_value(each.clone()).unwrap();
        assert_eq!(serde_json::to_value(counts).unwrap(), each);
        assert!(counts.values().map(|(_, value)| value).eq(1..=COUNTS.len() as u64));
        assert!((counts + counts).values().map(|(_, value)| value).eq((2..).step_by(2).take(COUNTS.len())));
    }

    #[test]
    fn an_end_is_counted_where_the_table_says() {
        for count in COUNTS {
            let Some(end) = count.end else { continue };
            let mut counts = Counts::default();
            *end.count(&mut counts) += 1;
            assert_eq!(counts.ended(), 1);
            assert!(counts.values().all(|(other, value)| (other.name == count.name) == (value == 1)));
        }
    }
}
