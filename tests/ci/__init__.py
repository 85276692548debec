"""The test run of `make test`: stages with limits, classes of tests, and a verdict of at most 20 lines.

python -m tests.ci            every stage
python -m tests.ci exact      only these stages
python -m tests.ci exact --only tests/unit/report    only the tests of these paths in it
"""
