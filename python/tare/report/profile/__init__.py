"""Reports of a profile: text, page, data and other tools' formats."""
