"""Finding the fastest algorithm of every collective and size, by measurement."""
