"""Budgets: what a program may take, and whether traces of it keep to that."""
