"""What a piece of text is: dates, amounts, percentages, codes. Parses and normalizes, never guesses."""
