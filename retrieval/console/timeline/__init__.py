"""The parts of the timeline: filters, the two axes, the list, one event whole, contradictions."""
