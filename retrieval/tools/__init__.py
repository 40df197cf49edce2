"""The memory_* tools: one manifest for REST, MCP and the reference, and how a call is run."""
