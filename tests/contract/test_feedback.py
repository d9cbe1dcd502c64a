"""Every law that comes with the project fills the contract."""

from dataclasses import replace

import pytest

from paprle.contracts.settings.feedback import LawSettings
from paprle.plugins import find_plugin, list_names, load_config_class, load_factory
from paprle.testing import FeedbackLawContract

NAMES = list_names("feedback")
SETTINGS = {
    "friction": {"viscous_share": 0.3},
    "tracking": {"is_compensated": False},
}


def make(name, **settings):
    spec = find_plugin("feedback", name)
    return load_factory(spec)(load_config_class(spec)(**settings))


@pytest.mark.parametrize("name", NAMES)
def test_config_extends_that_of_all_laws(name):
    config = load_config_class(find_plugin("feedback", name))

    assert issubclass(config, LawSettings)
    assert config().weight == 1.0


class TestLaws(FeedbackLawContract):
    @pytest.fixture(params=NAMES)
    def name(self, request):
        return request.param

    @pytest.fixture
    def law(self, name):
        self.law_name = name
        return self.make_law()

    def make_law(self):
        return make(self.law_name, **SETTINGS.get(self.law_name, {}))


class TestInverse(FeedbackLawContract):
    def make_law(self):
        return make("task_tracking", method="inverse")


class TestScaleZero(FeedbackLawContract):
    """Translations are not felt, and nothing is divided by zero."""

    def make_law(self):
        return make("task_tracking", method="inverse")

    def make_inputs(self, seed=0):
        return replace(super().make_inputs(seed), scale=0.0)
