"""Everything that touches Sphinx: directive text into one core call, and its answer into nodes."""
