"""What a document is: sections as spans of its source, the outline, what opening shows. Pure."""
