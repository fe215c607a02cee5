"""The command line as text: man pages and the reference in docs/, both from the commands themselves."""
