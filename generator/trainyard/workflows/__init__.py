"""Run the stages of each command in their order, which no other code knows."""
