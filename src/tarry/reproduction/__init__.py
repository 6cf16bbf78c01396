"""This paper: its experiments, what it claims, how regret grows, and the report on all of it."""
