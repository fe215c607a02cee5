"""Asking registries: what a tag is, and which tags there are. Start with `client.Registries`."""
