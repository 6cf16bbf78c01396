"""The simulator: one loop, compiled or interpreted."""
