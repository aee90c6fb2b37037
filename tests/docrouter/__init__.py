"""Tests of the roof: embedded services, make run, health, operations."""
