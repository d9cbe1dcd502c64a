"""Sets of trials: many motions of several users, tasks and modes, judged together.

A trial is a log of ARBot's evaluator (CSV) or a recording of ours, with labels.
"""
