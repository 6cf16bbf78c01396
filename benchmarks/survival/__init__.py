"""Measurements behind SurvivalThompson, SurvivalUCB and the tight bounds."""
