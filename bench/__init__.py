"""Side-by-side measurements; `make bench` runs them."""
