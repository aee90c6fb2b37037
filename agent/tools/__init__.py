"""The 27 tools. Importing this package fills `agent.toolbox.toolbox`, in the order in which models are offered them."""

from agent.tools import documents, extraction, guides, prompts, schemas, tags

__all__ = ["documents", "extraction", "guides", "prompts", "schemas", "tags"]
