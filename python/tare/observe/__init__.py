"""The observer: live pages of a lab for a browser on this machine."""
