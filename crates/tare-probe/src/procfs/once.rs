//! One process or thread, read once from /proc alone.

use std::sync::Arc;

use super::reader::single;
use super::task::{TaskFiles, Who, row};
use super::threads::Threads;
use crate::delay;
use crate::error::{ProbeError, Result};
use crate::process::Process;
use crate::split::scale;
use crate::title::Title;

/// Reads one process or, with `tid`, one thread of it.
pub fn read_process(pid: i32, tid: Option<i32>) -> Result<Process> {
    let whom = tid.map_or_else(|| format!("process {pid}"), |tid| format!("thread {tid} of process {pid}"));
    let mut process = read(pid, tid).map_err(|e| match e.raw_os_error() {
        Some(libc::ESRCH | libc::ENOENT) => {
            let mut error = ProbeError::new(format!("{whom} has ended"), "read a process that is alive");
            error.errno = libc::ESRCH;
            error
        }
        _ => ProbeError::os(
            format!("cannot read {whom} from /proc"),
            &e,
            "look whether /proc hides it (hidepid)",
        ),
    })?;
    if !process.kernel {
        process.cmdline = Title::of(pid).read();
    }
    Ok(process)
}

fn read(pid: i32, tid: Option<i32>) -> std::io::Result<Process> {
    let mut buffer = Vec::new();
    let accounting = delay::accounting() == Some(true);
    if let Some(tid) = tid {
        let mut files = TaskFiles::thread(pid, tid);
        let uid = files.read_status(&mut buffer)?.uid;
        return single(&mut files, &Who { pid: tid, tgid: pid, uid }, accounting, &mut buffer);
    }
    let mut files = TaskFiles::process(pid);
    let status = files.read_status(&mut buffer)?;
    // /proc/TID answers for a thread too, with the whole process's counters under the thread's id.
    if status.tgid.is_some_and(|tgid| tgid != pid) {
        return Err(super::task::gone());
    }
    let who = Who { pid, tgid: pid, uid: status.uid };
    let sums = Threads::open(pid)?.sums(accounting, &mut buffer)?;
    let io = files.read_io(&mut buffer)?;
    let stat = files.read_stat(&mut buffer)?;
    Ok(Process { cmdline: Arc::from(""), ..row(&who, &stat, &sums, io, scale) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn we_find_ourselves() {
        let me = read_process(std::process::id() as i32, None).unwrap();
        assert!(me.run_ns.unwrap() > 0 && !me.kernel && !me.cmdline.is_empty());
        assert_eq!(me.user_ns + me.system_ns, me.run_ns.unwrap());
    }

    #[test]
    fn a_process_that_is_gone_is_named_in_the_error() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let error = read_process(child.id() as i32, None).unwrap_err();
        assert!(error.what.contains(&format!("process {}", child.id())));
        assert_eq!(error.errno, libc::ESRCH);
    }
}
