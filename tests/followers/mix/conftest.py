import pytest
import shaky_arm


@pytest.fixture(autouse=True)
def shaky(tmp_path, monkeypatch):
    """The plug-in of shaky arms; what fails, and what was called."""
    shaky_arm.install(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield shaky_arm
    shaky_arm.FAILS.clear()
    shaky_arm.CALLS.clear()
