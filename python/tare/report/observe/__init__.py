"""Live pages of a lab, and of one run: stories that are told anew while the run goes on."""
