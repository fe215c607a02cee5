"""`python -m flatcar_gpu` is the same program as `flatcar-gpu`."""

from flatcar_gpu.cli import main

if __name__ == "__main__":
    main()
