import pytest
import wave_leader


@pytest.fixture
def example_leader(tmp_path):
    """Return a folder with the example of the page, installed as pip would."""
    return wave_leader.install(tmp_path)
