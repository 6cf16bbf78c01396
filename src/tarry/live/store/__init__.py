"""Where an agent keeps what happened: a file of SQLite, and how to save what is good of it."""
