"""`tarry demo`: an agent on real servers of this machine, with a table and a figure."""
