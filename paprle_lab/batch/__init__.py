"""Thousands of sessions on virtual clocks, or of recordings, and one table of them.

A *plan* says what there is to do, *cells* are its pieces, each a function of its
inputs. An engine (processes of this host, or Ray) does them in any order; what each
gives is one part in the place of the results, and the parts become one table, sorted
by cell: the same to the last bit whoever did them.
"""
