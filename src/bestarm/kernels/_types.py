"""The array types of the kernels: contiguous float64, and int64 for arms."""

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
