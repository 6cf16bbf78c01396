"""Yardsticks: policies that others are measured against."""
