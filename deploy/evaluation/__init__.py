"""Measuring what is remembered against what people labelled."""
