"""The store in a PostgreSQL database, for any number of processes that share one agent."""
