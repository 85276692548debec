"""Changes to the machine and the promise to undo them: steps, their journal, the guardian.

Standard library only, and imported under two names: as part of ``tare``, and alone as
``putback`` by the guardian, which must start in milliseconds and without site-packages.
"""
