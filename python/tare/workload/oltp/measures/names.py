"""Every measure of a second: what it is called, its unit, and what it means."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Name:
    name: str
    unit: str
    meaning: str
    counter: bool = (
        True  # read as a sum since some beginning, told as its growth per second; else told as read
    )


def _gauge(name: str, unit: str, meaning: str) -> Name:
    return Name(name, unit, meaning, counter=False)


_ALL = (
    # The kernel, of the server's processes; SQLite: of the driver. The session that measures is left out where it is
    # a process of its own (PostgreSQL). What a process used after its last reading is not in it.
    Name("server_cpu", "s/s", "CPU time of the server's processes."),
    Name("server_cpu_user", "s/s", "Of it in user mode; the split is the kernel's sampling."),
    Name("server_cpu_system", "s/s", "Of it in the kernel."),
    Name("server_run_queue", "s/s", "The server's threads were ready and had no CPU, summed."),
    Name("server_block_io", "s/s", "The server's threads waited for block devices, summed."),
    Name("server_read_bytes", "bytes/s", "Read from block devices for the server."),
    Name(
        "server_write_bytes",
        "bytes/s",
        "Dirtied in the page cache by the server, in whole folios: a page in one of 2 MiB counts as 2 MiB. No measure "
        "of what was written to a device.",
    ),
    _gauge("server_processes", "1", "Processes of the server."),
    # The kernel, of the machine that Tare runs on.
    Name("machine_cpu", "s/s", "All CPUs: busy for anybody."),
    Name("machine_iowait", "s/s", "All CPUs: idle, while a thread that last ran there waits for I/O."),
    Name("machine_steal", "s/s", "All CPUs: taken by the hypervisor."),
    Name(
        "others_cpu",
        "s/s",
        "CPU time of processes that are neither the server's, the driver's, Tare's nor the kernel's.",
    ),
    Name(
        "machine_reschedules",
        "1/s",
        "CPUs called by another to look at their queue of tasks, as when a client's message wakes a server on another "
        "CPU. In a virtual machine each call leads out of it.",
    ),
    # Tare itself; the driver's CPU time is in each second of the run.
    Name("driver_run_queue", "s/s", "The driver's threads were ready and had no CPU, summed."),
    Name("tare_cpu", "s/s", "CPU time of the process that watches and shows the run."),
    Name("tare_session_cpu", "s/s", "CPU time that the server spent on the session that measures."),
    # The DBMS's own statistics.
    Name("commits", "1/s", "Transactions committed in the database; the session that measures adds some."),
    Name("rollbacks", "1/s", "Transactions rolled back in the database."),
    Name("deadlocks", "1/s", "Deadlocks that the DBMS broke."),
    Name("buffer_hits", "1/s", "Pages found in the DBMS's buffer."),
    Name("buffer_reads", "1/s", "Pages asked of the operating system."),
    Name("buffer_wait_free", "1/s", "Waits for a page of the buffer to become free."),
    Name("temp_bytes", "bytes/s", "Written to temporary files."),
    Name("wal_bytes", "bytes/s", "Written to the log of changes (PostgreSQL: WAL; InnoDB: redo log)."),
    Name("wal_syncs", "1/s", "Times the log was synced to its device."),
    Name(
        "wal_full", "1/s", "Times the log's buffer was full and a transaction had to write it or wait for it."
    ),
    Name("data_syncs", "1/s", "Syncs of all files of the storage engine, its log included."),
    Name("lock_waits", "1/s", "Times a transaction had to wait for a row's lock."),
    Name("lock_wait_time", "s/s", "Waits for rows' locks that came to their end, summed."),
    Name("checkpoints_timed", "1/s", "Checkpoints that were due."),
    Name("checkpoints_asked", "1/s", "Checkpoints for another reason, such as much WAL."),
    Name("checkpoint_pages", "1/s", "Pages written by checkpoints."),
    _gauge("checkpoint_age", "bytes", "Log since the last checkpoint."),
    _gauge("sessions_active", "1", "Sessions at work on a statement, at the reading."),
    _gauge("sessions_idle_in_transaction", "1", "Sessions in a transaction, waiting for their client."),
    _gauge("waiting_lock", "1", "Of the active: waiting for a lock."),
    _gauge("waiting_lwlock", "1", "Of the active: waiting for a lock of a structure in shared memory."),
    _gauge("waiting_io", "1", "Of the active: waiting for I/O, the log's syncs among it."),
    _gauge("waiting_other", "1", "Of the active: waiting for anything else."),
)

NAMES = {one.name: one for one in _ALL}
