"""The driver's process: a request on standard input, what happens on standard output."""

from tare import _probe

if __name__ == "__main__":
    raise SystemExit(_probe.oltp_driver(0, 1))
