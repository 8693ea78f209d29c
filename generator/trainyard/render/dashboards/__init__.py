"""The dashboards of a cluster: their panels, and their form for each program that shows them."""
