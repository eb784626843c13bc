"""The paper's quantities for people: NumPy in, small frozen dataclasses out, arguments checked on entry."""
