"""Commands that are interrupted at any moment, and the ends of commands that are not."""
