"""Find the best of several noisy options, from few samples and with a guarantee.

Importing the package is cheap and loads no other module: a name is loaded, with NumPy, Numba and the
compiled kernels behind it, when it is first used. The public names are in the stub beside this file, where
type checkers and editors look for them, too; to add one, add a line there.
"""

__version__ = "0.3.0.dev0"


def _public() -> dict[str, str]:
    """Every public name and the module that has it, from the lines `from .module import name as name`."""
    found = {}
    with open(f"{__file__}i", encoding="utf-8") as stub:
        for words in map(str.split, stub):
            if len(words) == 6 and (words[0], words[2], words[4]) == ("from", "import", "as"):
                found[words[5]] = words[1]
    return found


def __getattr__(name: str) -> object:
    if name == "__all__":  # for `from truebest import *`
        return __dir__()
    module = None if name.startswith("_") else _public().get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(module, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*_public(), "__version__"])
