"""What every stored run says of one instance."""
