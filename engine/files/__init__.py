"""Files: what may be read and written, up to which size, and how outputs take their places whole."""
