"""Numbers of a cluster's capacity: what its nodes have, and what teams own, lend and may borrow."""
