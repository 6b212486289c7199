"""What swapping words for synonyms does to verdict and popularity."""
