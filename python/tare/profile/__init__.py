"""`tare profile`: where a transaction begins and ends, which functions are watched, and how far a round goes down."""
