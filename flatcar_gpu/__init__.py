"""flatcar-gpu: provision Flatcar Container Linux nodes for the NVIDIA GPU Operator."""

# A constant and not importlib.metadata.version(): that import alone costs more than all of `--version`.
__version__ = "0.1.0"
