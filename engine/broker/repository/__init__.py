"""The repository: what each broker is and runs, who may do what with it, and what was done."""
