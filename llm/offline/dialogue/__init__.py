"""The conversation: what the person wants, what was done so far, which tool call or sentence comes next."""
