"""Side by side: this product, pink, mink, placo and upstream PAPRLE's algorithm.

``python -m benchmarks.peers`` runs every scenario on all of them in turns, each in a
process of its own (placo needs another pinocchio), and judges them by one ruler.
"""
