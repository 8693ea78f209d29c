"""CODEOWNERS: the patterns of files and their owners, inside a file that is else hand-written."""
