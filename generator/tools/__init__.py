"""What only developers of Trainyard run: it derives from pinned modules what a release and the credential rules say."""
