"""Speed, memory and regret, as ratios measured in one run."""
