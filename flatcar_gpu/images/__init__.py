"""Driver images: references, the operator's tag rules, what registries hold, audits, build folders.

Nothing here knows of GPU specs or of Flatcar's releases; it works on plain values: the ID and VERSION_ID of an
operating system, a kernel as `uname -r` prints it, an architecture. Start with `tags.driver_image` and
`lookup.look_up`.
"""
