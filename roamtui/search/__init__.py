"""Sections found by their words; spans found in the text; titles found by name."""
