"""The paper's table and figures, reproduced: settings, published numbers, comparison. One file each."""
