"""Words and walls: rules, storage and ports that the three services stand on."""
