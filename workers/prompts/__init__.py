"""One prompt a file: its VERSION, typed input, rendering and reply model."""
