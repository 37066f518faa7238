# Everything is installed into .venv, which `make clean` removes; nothing else on the machine is touched.
#
#   PYTHON=/path/to/python3   the interpreter to make .venv with: 3.11 or later, the newest found unless named
#   ARGS='-k tree'            more for pytest, in `make test` and `make test-slow`
#   SECONDS=120 SEED=1        how long `make fuzz` feeds readers, and with which seed it mutates; how long `make soak` loads
#   TESTED=1                  `make check` leaves the tests out, because `make test` has just run them

VENV := .venv
DEMO := out/demo
DESK_DEMO := out/desk-demo
QUEUE_DEMO := out/queue-demo
SPARK_DEMO := out/spark-demo
PYTHONS := python3.13 python3.12 python3.11 python3
INSTALL = $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable
# Commands start in half the time where Python finds itself compiled, also where it is told to write no such files. The
# tests start hundreds of them, so what has changed since the installation is compiled again.
COMPILE = $(VENV)/bin/python -m compileall -q engine esql flows nodes parsers spark_exec

# A test that takes ten minutes hangs: where its threads stand is printed, and the other tests go on.
HANGS := -o faulthandler_timeout=600 -o faulthandler_exit_on_timeout=true
# Half of the time of a test that starts brokers is waiting, so there are two processes more than processors, and eight
# at most, as each may start a Spark, a PostgreSQL and a RabbitMQ. ARGS='-n 0' runs the tests in one, as a debugger needs.
TESTS := -m "not slow" --dist worksteal -n $(shell n=$$(getconf _NPROCESSORS_ONLN) && echo $$((n < 6 ? n + 2 : 8))) $(HANGS)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Two installations into one .venv would tread on each other, so `make -j` runs these targets one by one too.
.NOTPARALLEL:

.PHONY: demo
demo: $(VENV)/.demo ## run a broker with sample flows, kill a part of it in the middle, and show that nothing is lost
	@rm -rf $(DEMO)
	@$(VENV)/bin/penstock broker demo --output $(DEMO)

.PHONY: desk-demo
desk-demo: $(VENV)/.demo ## run the sample flow over its sample messages and show what came out
	@rm -rf $(DESK_DEMO)
	@$(VENV)/bin/penstock run flows/samples/orders/orders.yaml --input flows/samples/orders/messages --output $(DESK_DEMO)
	@echo "Written:"
	@find $(DESK_DEMO) -type f | LC_ALL=C sort | sed 's/^/  /'

.PHONY: queue-demo
queue-demo: $(VENV)/.demo ## kill a queue manager and a flow in the middle of 1,000 messages, and count what is left
	@rm -rf $(QUEUE_DEMO)
	@$(VENV)/bin/penstock queue-manager demo --output $(QUEUE_DEMO)

.PHONY: spark-demo
spark-demo: $(VENV)/.spark ## carry 10,000 messages through sample flows on Spark; needs Java 17 or later
	@rm -rf $(SPARK_DEMO)
	@$(VENV)/bin/penstock spark demo --output $(SPARK_DEMO)

.PHONY: test
test: $(VENV)/.dev ## run the tests, but for those marked slow
	@$(COMPILE)
	@$(VENV)/bin/python -m pytest $(TESTS) $(ARGS)

.PHONY: test-slow
test-slow: $(VENV)/.slow ## run the tests marked slow
	@$(VENV)/bin/python -m pytest -m "slow and not soak" $(ARGS)

.PHONY: check
check: check-format check-lint check-types check-tests ## check formatting, lint, types and tests
	@echo "make check: all steps passed"

# $(call step,name,command,what to do): run one step of the check, and name it when it fails.
step = @$(VENV)/bin/$(2) || { echo "make check: the step '$(1)' failed; $(3)" >&2; exit 1; }

.PHONY: check-format check-lint check-types check-tests
check-format: $(VENV)/.dev
	$(call step,format,ruff format --check .,make format mends it)

check-lint: $(VENV)/.dev
	$(call step,lint,ruff check .,each finding above names its file and line)

check-types: $(VENV)/.dev
	$(call step,types,mypy,each error above names its file and line)

check-tests: $(VENV)/.dev
ifdef TESTED
	@echo "make check: the tests are left out (TESTED=$(TESTED))"
else
	$(call step,tests,python -m pytest $(TESTS) $(ARGS),the failures are listed above)
endif

.PHONY: format
format: $(VENV)/.dev ## sort imports and format the source
	@$(VENV)/bin/ruff check --select I --fix --quiet .
	@$(VENV)/bin/ruff format .

.PHONY: fuzz
fuzz: $(VENV)/.fuzz ## feed every reader with what was mutated and guided: SECONDS=120 SEED=1 ARGS='--target tds'
	@$(VENV)/bin/python -m tests.fuzz --seconds $(or $(SECONDS),120) --seed $(or $(SEED),1) $(ARGS)

.PHONY: soak
soak: $(VENV)/.dev ## load a queue manager and watch its memory and files: SECONDS=600
	@PENSTOCK_SOAK_SECONDS=$(or $(SECONDS),600) $(VENV)/bin/python -m pytest -n 0 -s -m slow tests/engine/mq/test_soak.py $(ARGS)

.PHONY: clean
clean: ## remove .venv and everything else that was made here
	@rm -rf $(VENV) out build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The first interpreter that is new enough and can make a virtual environment. Each is tried by running it: a launcher
# of that name may stand for a Python that is not there.
$(VENV)/.created:
	@new='import sys; sys.exit(sys.version_info < (3, 11))'; python=; bare=; \
	for candidate in $(if $(PYTHON),"$(PYTHON)",$(PYTHONS)); do \
	    "$$candidate" -c "$$new" >/dev/null 2>&1 || continue; \
	    if "$$candidate" -c 'import ensurepip, venv' >/dev/null 2>&1; then python=$$candidate; break; fi; \
	    bare=$${bare:-$$candidate}; \
	done; \
	if [ -z "$$python" ] && [ -n "$$bare" ]; then \
	    echo "make: $$bare cannot make a virtual environment: as root, apt-get install python3-venv" >&2; exit 1; \
	elif [ -z "$$python" ]; then \
	    echo "make: no Python 3.11 or later as $(or $(PYTHON),$(PYTHONS)): install one, or name it: make PYTHON=/path/to/python3" >&2; exit 1; \
	fi; \
	echo "Making $(VENV) with $$("$$python" --version)"; \
	"$$python" -m venv --clear $(VENV)
	@touch $@

$(VENV)/.demo: pyproject.toml $(VENV)/.created
	@echo "Installing Penstock into $(VENV)"
	@$(INSTALL) .
	@$(COMPILE)
	@touch $@

$(VENV)/.spark: pyproject.toml $(VENV)/.created
	@echo "Installing Penstock and Spark into $(VENV)"
	@$(INSTALL) '.[spark]'
	@$(COMPILE)
	@touch $(VENV)/.demo $@

$(VENV)/.dev: pyproject.toml $(VENV)/.created
	@echo "Installing Penstock, its development tools and all extras into $(VENV)"
	@$(INSTALL) '.[dev,spark,postgres,amqp,protection,telemetry]'
	@$(COMPILE)
	@touch $(VENV)/.demo $(VENV)/.spark $@

$(VENV)/.slow: pyproject.toml $(VENV)/.created
	@echo "Installing Penstock, its development tools and all extras into $(VENV)"
	@$(INSTALL) '.[dev,spark,postgres,amqp,protection,telemetry]'
	@$(COMPILE)
	@touch $(VENV)/.demo $(VENV)/.spark $(VENV)/.dev $@

$(VENV)/.fuzz: $(VENV)/.dev
	@$(INSTALL) '.[fuzz]'
	@touch $@

-include esql/grammar/grammar.mk
