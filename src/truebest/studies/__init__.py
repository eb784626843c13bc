"""Studies made with the package. Nothing else in it imports them but the public functions and the command."""
