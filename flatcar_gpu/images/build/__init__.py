"""Building driver images: `recipe` makes the files of a build folder, `build.sh` is what runs there."""
