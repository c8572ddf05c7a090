"""Ways of walking a document."""
