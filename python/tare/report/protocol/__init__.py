"""Reports of timing protocols and causal models alone; an experiment's report has them too."""
