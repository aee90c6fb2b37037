"""Tests of the built-in offline model: no Django, no network, pages built in code."""
