"""One HTML file that asks nothing of the network, for every report: its frame, its looks, its charts, its policy."""
