"""Roaming: the loop, its tools, prompts, memory, budget and evidence."""
