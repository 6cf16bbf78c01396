"""How bad bad runs are: thousands of runs per policy and problem, and their tails."""
