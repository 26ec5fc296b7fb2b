"""Open-loop load: arrivals by chance, one lean client for every server, the highest rate borne."""
