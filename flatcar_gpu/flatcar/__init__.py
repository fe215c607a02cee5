"""What is known of Flatcar Container Linux: versions, the release index and its sources, what each release can do.

Nothing here knows of GPU specs, prints or exits. Start with `sources.resolve_release` and `capabilities.capabilities`.
"""
