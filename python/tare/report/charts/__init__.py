"""What every report's charts are made of."""
