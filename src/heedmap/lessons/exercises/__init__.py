"""Exercises without end: generators from seeds, and a checker that goes step by step and knows usual mistakes."""
