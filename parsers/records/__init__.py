"""Records of files: how a file is cut into them, and the fields of each as JSON and back."""
