"""What must hold for the resolved platform. One file a family; each rule is one function that yields findings."""
