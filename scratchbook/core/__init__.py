"""The pure rooms: text and arrays in, data out.  No Sphinx, no docutils, no logging, no global state."""
