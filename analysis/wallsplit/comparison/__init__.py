"""Several traces side by side: what changed, whether it is more than noise, and which rank holds the others up."""
