"""How much regret is left where the best arm depends on the request."""
