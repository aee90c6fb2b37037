"""The names of what a webhook can be told, with a sentence for a person."""

TEST = "webhook.test"
EVENTS = {
    "document.uploaded": "A document was uploaded",
    "document.error": "A document could not be read",
    "llm.completed": "A prompt has run on a document",
    "llm.error": "A prompt failed on a document",
    "auto_create.proposed": "The agent has a proposal for a new document",
    "approval.waiting": "The agent waits for an approval",
}

ONLY_FOR_ADMINS = {"approval.waiting": ("turn", "calls")}
"""What members who are no admins do not see of an event: an approval may wait in somebody's private thread."""
