"""Tables 1, 2 and 3 of Zhang et al., "Characterizing TPC-H on a Clustered Database Engine from the OS Perspective".

DB2 under TPC-H at 30 GB, on eight nodes of two CPUs, under Linux 2.4.8. The paper
has no rows for Q21 and Q22, which took too long there."""

from __future__ import annotations

from tare.report.os.document import CallShare, PaperProfile

_CALLS = {"r": "pread", "w": "pwrite", "s": "select", "n": "socketcall", "i": "ipc", "z": "nanosleep"}

# User and system CPU in % of the execution time; shares of the system time by call, %; page faults, blocks read, blocks
# written, packets sent, packets received, each per jiffy; CPU use during I/O, %.
_TABLE_1 = """
q1  27.58 21.44 r46.7,w46.7,s3.3,i2.9   1.50 51.01 23.1151 0.0012 0.0015 26.87
q2  56.22 15.67 n35.4,r32.9,s20.1,w7.3  0.39 21.97  1.7718 1.9077 1.9248 53.73
q3  40.76 17.76 r54.1,n15.1,s13.1,w12.8 0.99 55.47  4.9591 0.9778 0.9938 55.40
q4  51.48 15.19 r60.0,s17.6,n11.2,w6.9  0.00 22.97  1.0478 0.3517 0.3652 68.41
q5  58.96 15.68 n43.3,r29.2,s21.7,w3.7  0.05 16.73  1.1369 2.0779 2.0849 42.81
q6  40.65 22.20 r90.1,i4.9,n4.3         1.73 90.72  0.0020 0.0012 0.0012 33.49
q7  52.44 16.82 r72.1,w14.8,i6.1,s6.0   0.00 16.89  1.9467 2.3880 2.3521 31.04
q8  20.65 17.71 r59.5,w23.7,s9.4,i5.8   0.01 27.63  4.8078 0.0261 0.0228 12.91
q9  51.41 13.52 w40.8,r38.7,s13.9,i2.5  0.00  6.69  1.9276 0.0133 0.0136 23.21
q10 41.79 17.87 r57.7,n17.9,s13.4,w7.0  0.17 41.99  1.8880 0.8774 0.8859 18.71
q11 81.00 13.28 n43.6,r27.0,s24.8,i3.9  0.49 18.87  0.0020 2.3794 2.4011 66.46
q12 14.91 19.73 r78.3,s15.2,i5.2        0.25 40.79  0.0197 0.0102 0.0101  4.8
q13 53.23 21.86 r45.7,n30.3,s18.8,i4.6  1.62 45.86  0.0034 2.0966 2.0935 32.71
q14 33.57 22.19 r85.6,s8.3,i5.1         1.01 84.78  0.0025 0.1156 0.1175 29.75
q15 55.37 18.69 r71.7,s14.0,i10.9,z1.9  0.60 75.26  0.0033 0.6260 0.7703 51.68
q16 51.84 15.30 n43.5,r27.0,s22.2,i5.7  2.32 15.36  0.8454 2.4836 2.4993 46.24
q17 23.71 18.26 r59.4,w26.1,s8.7,i4.9   0.00 32.76  5.2532 0.0036 0.0037 13.94
q18 52.64 14.77 r61.1,n17.3,s13.3,w5.2  0.04 17.16  0.6261 0.3890 0.3803 35.11
q19 35.48 21.16 r80.1,s7.3,i5.9,n5.9    0.29 78.76  0.0032 0.3343 0.3329 23.38
q20 56.98 14.72 r53.4,s25.6,n15.3,i3.6  0.00 15.74  0.1601 0.3456 0.2973 47.36
"""

_TABLE_2 = """
q6 20.0  q14 19.0  q19 16.9  q12 15.4  q15 13.4  q7 12.1  q17 10.8  q8 10.5  q10 10.3  q1 10.0
q13 10.0  q3 9.6   q4 9.1    q18 9.0   q20 7.9   q2 5.2   q9 5.2    q5 4.6   q16 4.1   q11 3.5
"""

_TABLE_3 = """
q1 .5711  q2 .5321  q3 .5164  q4 .4873  q5 .5991  q6 .4729  q7 .5182  q8 .5300  q9 .4683  q10 .5082
q11 .2788 q12 .4735 q13 .5261 q14 .5344 q15 .4227 q16 .4409 q17 .7365 q18 .4226 q19 .5625 q20 .5453
"""


def _profile(line: str) -> PaperProfile:
    query, user, system, calls, faults, read, written, sent, received, during_io = line.split()
    return PaperProfile(
        query=query,
        user=float(user) / 100,
        system=float(system) / 100,
        calls=tuple(
            CallShare(name=_CALLS[call[0]], share=float(call[1:]) / 100) for call in calls.split(",")
        ),
        faults=float(faults),
        blocks_read=float(read),
        blocks_written=float(written),
        packets_sent=float(sent),
        packets_received=float(received),
        cpu_during_io=float(during_io) / 100,
    )


def _pairs(table: str) -> dict[str, float]:
    words = table.split()
    return dict(zip(words[::2], map(float, words[1::2]), strict=True))


TABLE_1 = {profile.query: profile for profile in map(_profile, _TABLE_1.strip().splitlines())}

TABLE_2 = {query: percent / 100 for query, percent in _pairs(_TABLE_2).items()}
"""CPU time in pread over execution time."""

TABLE_3 = _pairs(_TABLE_3)
"""Share of the prefetchers' requests that hit the file cache, by query. The agents' is 1.0 in every query."""
