"""The tools as an MCP server: at /mcp for agents on the network, over stdio for desktop agents."""
