"""The paper's table and figures, reproduced: settings, published numbers, comparison. One file each.

published   what the paper prints, with its place
table1      the expected number of draws, 6 rows and 6 strategies
figures     the data of Figures 1 to 5
pictures    their pictures
catalogue   a table of the figures, from which the command, its files and the report are derived
stability   how much the target weights move, over many runs
claims      every numbered statement: how it was checked, whether it holds
checks      the checks of these, on random instances
report      all of it on one page
"""
