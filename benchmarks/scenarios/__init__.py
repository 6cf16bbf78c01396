"""Who copes with routes that break: every chooser in every named scenario."""
