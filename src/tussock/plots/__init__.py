"""Pictures that people look at: everything that draws."""
