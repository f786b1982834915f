"""The command line: one short module a command, imported when it is called."""
