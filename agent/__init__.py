"""The assistant: threads, turns, rounds, tool calls and the decisions of people."""
