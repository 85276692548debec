"""Settings of a server, as the server describes them."""
