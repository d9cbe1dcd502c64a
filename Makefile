# Each of these sets everything up: `make play`, `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
OUT ?= demo

.PHONY: play demo demo-puppeteer demo-ros2 docs quick data test check fix bench bench-peers bench-board pictures cover mutants nightly setup clean

PIP := -m pip install --quiet --disable-pip-version-check
# uv installs in a fifth to a third of pip's time; pip where uv cannot be had or has no registry
UV := $(BIN)/uv pip install --quiet --python $(BIN)/python
install = { test -x $(BIN)/uv && $(UV) $(1) || $(BIN)/python $(PIP) $(1); }
# with it each process would compile all sources for itself
export PYTHONDONTWRITEBYTECODE =

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP) uv || $(BIN)/python $(PIP) --upgrade pip

$(VENV)/.ready: pyproject.toml | $(BIN)/python
	$(call install,-e '.[dev]' -e packages/paprle_emulators)
	@touch $@

# $(call needs,a+b): the extras that a demo shows; the test kit has them all
needs = $(if $(wildcard $(VENV)/.ready),$(VENV)/.ready,$(VENV)/.has-$(1))
comma := ,

$(VENV)/.has-%: pyproject.toml | $(BIN)/python
	$(call install,-e '.[$(subst +,$(comma),$*)]' -e packages/paprle_emulators)
	@touch $@

setup: $(VENV)/.ready  ## make the virtual environment, and compile what sessions run
	$(BIN)/python -m paprle.hosts.precompile

demo: $(call needs,sim+report+page)  ## one lap of a simulated PiPER, then a report
	@rm -rf $(OUT)
	$(BIN)/paprle demo record.dir=$(OUT) observers.view.port=8080

play: $(call needs,sim+report+page)  ## move a simulated PiPER in your browser
	$(BIN)/paprle run leader=web follower=piper env=mujoco record.dir=$(OUT)

HAND := motion=grasp_all:30,sines:20,end:30
WITH_EMULATORS := $(BIN)/python demos/with_emulators.py

demo-puppeteer: $(call needs,sim+report+dynamixel)  ## emulated servos in an emulated hand drive two arms
	@rm -rf $(OUT)
	$(WITH_EMULATORS) dynamixel leader=puppeteer_papras_7dof_2arm $(HAND) -- \
		leader=puppeteer follower=papras_7dof_2arm env=mujoco \
		session.episodes=1 record.dir=$(OUT)
	$(BIN)/paprle evaluate $(OUT)/episode_000000.mcap

demo-ros2: $(call needs,report+dynamixel+ros2)  ## an emulated hand, and a robot behind ROS 2
	@rm -rf $(OUT)
	$(WITH_EMULATORS) dynamixel leader=puppeteer_piper $(HAND) \
		+ ros robot=piper -- \
		leader=puppeteer follower=piper env=ros2 session.episodes=1 record.dir=$(OUT)
	$(BIN)/paprle evaluate $(OUT)/episode_000000.mcap

docs: $(VENV)/.ready  ## the pages as HTML, in site/; a warning fails
	$(call install,-e '.[docs]')
	$(BIN)/sphinx-build -W --keep-going -q -b html -d site/.doctrees -c docs/site . site/html
	@echo "open site/html/docs/index.html"

# Unit tests: the core's, each within a quarter of a second, in no process but this. Whoever
# works on a device adds its folder: make quick ALSO=tests/hardware/piper
QUICK := tests/paprle tests/feedback tests/test_house.py
UNMARKED := not process and not sim and not long and not timed and not nightly \
	and not hardware
TOGETHER := --no-loadscope-reorder --max-worker-restart=0

quick: $(VENV)/.ready  ## the unit tests, in less than a minute; SEED=N: in that order
	@seed=$(or $(SEED),$$(date +%s)); \
	echo "seed $$seed; the same again: SEED=$$seed make quick"; \
	$(BIN)/python -m pytest -rs --randomly-seed=$$seed -n 2 $(TOGETHER) --dist worksteal -m "$(UNMARKED)" \
		--durations=5 $(QUICK) $(ALSO)

test: $(VENV)/.ready  ## all tests but the nightly ones
	.ci/tests $(BIN)/python

data: $(VENV)/.ready  ## fetch the recordings and URDFs of others that tests use
	$(call install,'pooch>=1.8')
	$(BIN)/python checks/fetch_data.py

check: $(VENV)/.ready  ## what CI checks beside the tests
	.ci/check $(BIN)

fix: $(VENV)/.ready  ## format, and mend what can be mended safely
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.ready  ## session tick, IK, gate step, verification: median, p99, max
	$(BIN)/python -m benchmarks.control
	$(BIN)/python -m benchmarks.verification

# placo needs an older pinocchio than ours
PEERS = $(call install,-e '.[bench]') \
	&& { test -d $(VENV)-placo || $(PYTHON) -m venv $(VENV)-placo; } \
	&& $(VENV)-placo/bin/python $(PIP) 'placo>=0.10'

bench-peers: $(VENV)/.ready  ## side by side with pink, mink, placo, upstream, Ruckig
	$(PEERS)
	$(BIN)/python -m benchmarks.peers --write-docs

bench-board: $(VENV)/.ready  ## paprle bench, and peers on the same board, in OUT
	$(PEERS)
	$(BIN)/python -m benchmarks.peers.board --out $(OUT)

LOOK := env=mujoco session.clock=virtual session.status=false session.episodes=1
pictures: $(VENV)/.ready  ## draw every picture of the README again; chromium, EGL or OSMesa
	@rm -rf $(OUT)
	$(BIN)/python -m benchmarks.pictures.demo docs/demo.webp
	$(BIN)/python -m benchmarks.pictures.phone docs/phone.webp
	$(BIN)/python -m benchmarks.pictures.cues docs/cues.webp
	$(BIN)/paprle run leader=autopilot follower=piper $(LOOK) record.dir=$(OUT)/path
	$(BIN)/python -m benchmarks.pictures.demo_path $(OUT)/path/episode_000000.mcap docs/demo_path.webp
	$(BIN)/paprle run leader=autopilot follower=ur5e_camera $(LOOK) record.dir=$(OUT)/camera \
		env.block=false 'gate.scene={table: {shape: ground, size: []}}' \
		'advisors.viewpoint={type: viewpoint, occluders: {ball: 0.05}}' \
		'retarget.limbs.arm={from: hand, alignment: world}' \
		'retarget.limbs.camera={rule: look_at, of: arm, advice: viewpoint}'
	$(BIN)/python -m benchmarks.pictures.camera_arm $(OUT)/camera/episode_000000.mcap docs/camera_arm.webp

cover: $(VENV)/.ready  ## branch coverage; all of the gate and the state machines
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -m "not nightly and not long" \
		tests/paprle/gate tests/paprle/session/test_core.py \
		tests/paprle/session/test_states.py \
		tests/faults/test_follower_faults.py \
		--cov=paprle.gate --cov=paprle.session.states --cov-branch \
		--cov-report=term-missing:skip-covered --cov-fail-under=100

mutants: $(VENV)/.ready  ## change the gate in one place at a time: does a test notice?
	$(BIN)/python -m benchmarks.gate.mutants --sample 25

nightly: $(VENV)/.ready  ## the long runs of this day of the week, or PART or SHARE of them (.ci/nightly)
	.ci/nightly $(BIN)/python $(or $(PART),all) $(SHARE)

clean:  ## remove what was made here
	rm -rf $(VENV) $(OUT) site .pytest_cache .mypy_cache .ruff_cache .hypothesis .mutants
