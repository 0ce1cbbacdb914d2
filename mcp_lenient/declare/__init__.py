"""What authors and operators declare of tools."""
