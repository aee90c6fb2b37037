"""The built-in offline model: a deterministic rules engine that reads documents and carries the agent's conversation.

Rooms, high to low: engine → dialogue → propose → extract → matching → typing → layout. Standard library only.
"""
