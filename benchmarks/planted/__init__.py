"""A program with planted sources of variance, which knows how long each really took; built when it is needed."""
