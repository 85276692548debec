"""Parts of every report's charts."""
