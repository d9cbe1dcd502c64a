"""What a page is told of suggestions: how often one became better."""

import numpy as np

from observers.view.shown import Shown
from paprle.contracts.session_view import Advice, make_advice_dtype
from paprle.testing.robots import make_robot_info
from paprle.testing.views import make_session_view

ROBOT = make_robot_info(has_gripper=True)


def test_a_crossing_is_told_once_and_not_again_where_it_is_taken_back():
    shown, told = Shown(ROBOT), []
    for n, valid in ((0, True), (1, True), (0, False), (1, True), (2, True)):
        record = np.zeros((), dtype=make_advice_dtype(("n_crossings", "i8")))
        record["n_crossings"], record["valid"] = n, valid
        view = make_session_view(ROBOT, advice={"helper": Advice(record, 0.0)})
        told.append(shown.make(view)["crossings"])

    assert told == [0, 1, 1, 1, 2]
