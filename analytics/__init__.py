"""analytics watches: it folds records into rows, and rows into the tables, figures and trends of the paper.

::

    events of a game --fold.GameFold-------+
                                           +--> rows.GameRows --metrics.Metrics--> a JSON-able dict
    a log of the paper's own program ------+                                            |
        --paper.rows_of_paper_log                                             report.terminal for the terminal

Every figure is a pure function over the same rows, kept as a small accumulator: games can be added in any
order, in any number of processes, and the numbers come out equal to the last bit.
"""
