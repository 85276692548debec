"""What a profile found, as text, page, data and other tools' formats."""
