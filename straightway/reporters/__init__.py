"""Renderers: they show what a command found, and decide nothing."""
