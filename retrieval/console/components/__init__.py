"""What pages are made of: tables, quotes, badges, figures, curves, and states in words."""
