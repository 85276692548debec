//! /proc/PID/stat: one line of fields, the name in parentheses.

/// The fields of /proc/PID/stat that are used. Times are ticks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// The kernel's name of the task.
    pub comm: String,
    /// `R`, `S`, `D`, `Z`, …
    pub state: u8,
    /// The parent process.
    pub ppid: i32,
    /// The kernel's `PF_` flags.
    pub flags: u64,
    /// Page faults without I/O.
    pub min_faults: u64,
    /// Page faults with I/O.
    pub maj_faults: u64,
    /// User mode, scaled to the run time by the kernel.
    pub user_ticks: u64,
    /// Kernel mode, likewise.
    pub system_ticks: u64,
    /// Threads of the process.
    pub threads: u32,
    /// Since boot.
    pub start_ticks: u64,
    /// The CPU it last ran on, -1 if unknown.
    pub cpu: i32,
    /// Delay accounting's block-I/O wait; of this thread only, even in the process's file.
    pub block_io_ticks: Option<u64>,
    /// Time as a virtual CPU.
    pub guest_ticks: Option<u64>,
    /// The same of waited-for children.
    pub child_guest_ticks: Option<u64>,
}

impl Stat {
    /// Parses the file's text; `None` if it is not a stat line (as of a task that is just vanishing).
    ///
    /// The name may hold spaces, newlines and parentheses, so it ends at the *last* `)`.
    /// Fields beyond those known are ignored.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let open = text.iter().position(|&b| b == b'(')?;
        let close = text.iter().rposition(|&b| b == b')')?;
        let comm = String::from_utf8_lossy(text.get(open + 1..close)?).into_owned();
        let mut rest = text[close + 1..].split(|b| b.is_ascii_whitespace()).filter(|field| !field.is_empty());
        let state = *rest.next()?.first()?;
        // fields[0] is the 4th field of proc(5)'s table.
        let mut fields = [None; 41];
        for (slot, field) in fields.iter_mut().zip(rest) {
            *slot = super::signed(field);
        }
        let unsigned = |n: usize| fields[n - 4].map(|v: i64| v as u64);
        Some(Self {
            comm,
            state,
            ppid: fields[0]? as i32,
            flags: unsigned(9)?,
            min_faults: unsigned(10)?,
            maj_faults: unsigned(12)?,
            user_ticks: unsigned(14)?,
            system_ticks: unsigned(15)?,
            threads: unsigned(20)? as u32,
            start_ticks: unsigned(22)?,
            cpu: fields[39 - 4].map_or(-1, |v| v as i32),
            block_io_ticks: unsigned(42),
            guest_ticks: unsigned(43),
            child_guest_ticks: unsigned(44),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line(comm: &str, tail: &str) -> Vec<u8> {
        let middle = "S 7 1 1 0 -1 4194560 11 12 13 14 15 16 17 18 20 0 3 0 2200 1000 50 18446744073709551615 \
                      1 2 3 4 5 0 0 0 65536 0 0 0 17 31 0 0 42 43 44";
        format!("12 ({comm}) {middle}{tail}\n").into_bytes()
    }

    #[test]
    fn every_field_is_found_where_proc_puts_it() {
        let stat = Stat::parse(&line("postgres", " 1 2 3 4 5 6 7 0")).unwrap();
        assert_eq!((stat.ppid, stat.state, stat.flags), (7, b'S', 4_194_560));
        assert_eq!((stat.min_faults, stat.maj_faults), (11, 13));
        assert_eq!((stat.user_ticks, stat.system_ticks), (15, 16));
        assert_eq!((stat.threads, stat.start_ticks, stat.cpu), (3, 2200, 31));
        assert_eq!(
            (stat.block_io_ticks, stat.guest_ticks, stat.child_guest_ticks),
            (Some(42), Some(43), Some(44))
        );
    }

    #[test]
    fn a_newer_kernel_may_add_fields_and_an_older_one_may_lack_the_last() {
        assert_eq!(
            Stat::parse(&line("a", " 1 2 3")),
            Stat::parse(&line("a", " 1 2 3 4 5 6 7 8 9 what-ever"))
        );
        let mut short = line("a", "");
        short.truncate(short.len() - "42 43 44\n".len());
        assert_eq!(Stat::parse(&short).unwrap().block_io_ticks, None);
    }

    #[test]
    fn a_half_written_line_is_no_reading() {
        assert_eq!(Stat::parse(b""), None);
        assert_eq!(Stat::parse(b"12 (a"), None);
        assert_eq!(Stat::parse(b"12 (a) S 1"), None);
        assert_eq!(Stat::parse(b") ("), None);
    }

    proptest! {
        #[test]
        fn any_name_is_read_back(comm in "[ -~\n]{0,15}") {
            prop_assert_eq!(Stat::parse(&line(&comm, " 1 2")).unwrap().comm, comm);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let _ = Stat::parse(&bytes);
        }
    }
}
