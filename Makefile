# The tasks of this project, one target each; cargo does the rest. Needs a Rust toolchain, make and a C linker.
#
#   make race FILE=path              a race on your own file
#   make race ARGS='--state warm'    with options of `readlab race`; quoted as a shell reads them

CARGO ?= cargo
TARGET_DIR = $(or $(CARGO_TARGET_DIR),target)
READLAB = $(TARGET_DIR)/release/readlab
TOOLS = $(TARGET_DIR)/tools
CORPUS = $(READLAB) corpus make lines 256MiB

SECONDS ?= 60
# libdeflate includes one source several times, each with tables of the same names, which the sanitizer reports as
# duplicates of one table.
FUZZ = ASAN_OPTIONS=detect_odr_violation=0 RUSTUP_TOOLCHAIN=nightly $(TOOLS)/bin/cargo-fuzz
CORPORA = $(abspath $(TARGET_DIR))/corpora

# Recipes read it as a shell variable, so that no byte of a name becomes part of a command.
FILE ?=
export FILE
INSTALL ?= yes
export INSTALL
export CARGO_TERM_PROGRESS_WHEN ?= never
# Property tests draw the same cases in each run; `cargo test` alone draws others.
export PROPTEST_RNG_SEED ?= 7

.PHONY: help build race schemas goldens test test-all test-times test-package test-oldest test-windows ring2 format lints tests tests-ring1 examples tests-ring2 tests-alone beside builds features docs cross contenders always bench fuzz sanitize audit dist pictures gallery toolchains clean

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1	\2/p' Makefile | expand -t 20

build: ## build the release
	$(CARGO) build --release --package readlab

race: build ## race every way of reading on FILE=path, or on 256 MiB of text lines made for it; ARGS= is passed on
	@file=$$FILE; \
	[ -n "$$file" ] || file=$$($(CORPUS)) || file=$$($(CORPUS) --folder $(TARGET_DIR)/corpus) || exit; \
	$(READLAB) race $(ARGS) -- "$$file"

# The tests are in two rings (CONTRIBUTING.md). What is needed and not here is installed first; INSTALL=no installs
# nothing, and tests that lack something say so.
test: ## the first ring: format, lints, and every test that takes no time; what a change can break
	tests/packages.sh ring1
	$(MAKE) --keep-going --jobs=1 format lints tests || { tests/part.sh failures; exit 1; }

test-all: test ring2 ## both rings: also all grids, languages, SDKs, servers, file systems, browsers, and the documents

# The interpreter itself: on the PATH may be a script instead, which takes longer to start than a test. A contender is
# built again if its compiler changes, so it is the same one for all tests.
PYTHON_FOLDER := $(shell python3 -c 'import os, sys; print(os.path.dirname(sys.executable))' 2>/dev/null)
test ring2 tests-ring1 tests-ring2 tests-alone beside builds contender-%: export PATH := $(if $(PYTHON_FOLDER),$(PYTHON_FOLDER):)$(PATH)

# The second ring without the first. Its tests wait more than they compute; what compiles runs beside them and gives way.
# Contenders are tested apart: readers that poll starve beside others.
ring2:
	tests/packages.sh
	[ "$(INSTALL)" = no ] || contenders/swift/toolchain.sh || [ $$? = 3 ]
	tests/part.sh build $(CARGO) test --workspace --tests --no-run || { tests/part.sh failures; exit 1; }
	failed=; \
	$(MAKE) --keep-going --jobs=2 tests-ring2 beside || failed=1; \
	$(MAKE) --keep-going --jobs=1 tests-alone contenders || failed=1; \
	[ -z "$$failed" ] || { tests/part.sh failures; exit 1; }

beside:
	nice $(MAKE) --keep-going --jobs=1 builds features docs cross

# Crates that are no members of the workspace.
APART = contenders/rust-crates contenders/rust-objects fuzz
format:
	@$(CARGO) fmt --version >/dev/null 2>&1 || rustup component add rustfmt || echo "SKIPPED: the format: no rustfmt" >&2
	if $(CARGO) fmt --version >/dev/null 2>&1; then \
		tests/part.sh format sh -c 'failed=; for crate in . $(APART); do (cd $$crate && $(CARGO) fmt --check) || failed=1; done; [ -z "$$failed" ]'; \
	fi

lints:
	@$(CARGO) clippy --version >/dev/null 2>&1 || rustup component add clippy || echo "SKIPPED: the lints: no clippy" >&2
	if $(CARGO) clippy --version >/dev/null 2>&1; then \
		tests/part.sh lints $(CARGO) clippy --workspace --all-targets -- -D warnings; \
	fi

# Output is shown of tests that pass, too: it says what was skipped and why. CLOCK has a test program say its seconds.
CLOCK ?=
tests: tests-ring1 examples

# These tests wait a little for what they start: two for each processor keep these busy.
tests-ring1:
	tests/part.sh build $(CARGO) test --workspace --tests --no-run
	RUST_TEST_THREADS=$$((2 * $$(nproc))) tests/part.sh ring1 $(CARGO) test --workspace --tests --no-fail-fast -- --skip ring2:: --show-output $(CLOCK)

# Those in documentation.
examples:
	tests/part.sh examples $(CARGO) test --workspace --doc --no-fail-fast

# For servers, delays and the ends of budgets.
tests-ring2:
	RUST_TEST_THREADS=$$((2 * $$(nproc))) tests/part.sh ring2 $(CARGO) test --workspace --tests --no-fail-fast -- ring2:: --show-output $(CLOCK)

# The test of names and inodes drops the caches of the machine.
tests-alone:
	tests/part.sh metadata $(CARGO) test --workspace --test metadata -- --show-output $(CLOCK)

test-times: ## run the first ring by a clock and print what takes longest; ARGS=all runs both rings
	tests/times.sh $(ARGS)

# What the workspace does not switch on.
features:
	tests/part.sh features-lints $(CARGO) clippy --package readlab-auto --features rayon --all-targets -- -D warnings
	tests/part.sh features $(CARGO) test --package readlab-auto --features rayon --test outside every_byte::

docs:
	RUSTDOCFLAGS="-D warnings" tests/part.sh docs $(CARGO) doc --workspace --no-deps --document-private-items

# Other systems and processors than this machine's.
cross:
	tests/part.sh cross tests/cross.sh

# Each tests one contender of the roster, beside those in this workspace; it says so if its compiler or runtime is
# missing. Those that take longest come first: the last one would run alone. They wait, too.
CONTENDERS := $(filter-out rust command,$(shell sed -n 's/^name = "\(.*\)"/\1/p' contenders/roster.toml))
LONGEST := $(foreach it,java-objects python-objects rust-objects go-objects java python-data cpp python rust-crates,$(filter $(it),$(CONTENDERS)))
contenders:
	$(CARGO) test --workspace --no-run
	$(MAKE) --keep-going --jobs=$$((2 * $$(nproc))) --output-sync=target $(patsubst %,contender-%,$(LONGEST) $(filter-out $(LONGEST),$(CONTENDERS)))

# What is built is that of all tests.
CONTENDER = READLAB=$(abspath $(TARGET_DIR))/debug/readlab XDG_CACHE_HOME=$(abspath $(TARGET_DIR))/tmp/builder/.cache contenders/test.sh
contender-%: always
	tests/part.sh contender-$* env $(CONTENDER) $*

# Builds contenders before their tests. An error is ignored here: the test of the contender reports it.
builds:
	for name in $(CONTENDERS); do $(CONTENDER) $$name build || true; done

test-package: ## install readlab from its packages, offline in an empty home, and use it; five minutes
	tests/package.sh

test-oldest: ## check the crate readlab-auto by the oldest Rust that it names, which rustup installs
	@oldest=$$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml); \
	rustup toolchain install --profile minimal $$oldest && \
	cargo +$$oldest check --package readlab-auto --target-dir $(TARGET_DIR)/oldest

test-windows: ## test the crate readlab-auto for Windows; needs gcc-mingw-w64-x86-64 and wine (Debian: 900 MB)
	@if ! command -v wine >/dev/null || ! command -v x86_64-w64-mingw32-gcc >/dev/null; then \
		echo "SKIPPED: no wine, or no x86_64-w64-mingw32-gcc (Debian: wine64, gcc-mingw-w64-x86-64)" >&2; exit; \
	fi; \
	rustup target add x86_64-pc-windows-gnu && CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=wine \
	$(CARGO) test --package readlab-auto --target x86_64-pc-windows-gnu --lib --test outside

bench: build ## measure the figures that readlab promises; 9 GB of disk, an hour and a half; ARGS= selects some
	$(CARGO) build --release --package readlab-rust --example standalone
	$(CARGO) build --release --package readlab-bench
	$(TARGET_DIR)/release/readlab-bench $(ARGS)

fuzz: ## run the fuzzers of all readers of foreign input, SECONDS=60 each; needs a nightly toolchain
	@if ! rustup run nightly rustc --version >/dev/null 2>&1; then \
		echo "SKIPPED: no nightly toolchain: rustup toolchain install nightly" >&2; exit; \
	fi; \
	[ -x $(TOOLS)/bin/cargo-fuzz ] || $(CARGO) install --quiet --locked --root $(TOOLS) cargo-fuzz || exit; \
	for target in fuzz/fuzz_targets/*.rs; do \
		target=$$(basename $$target .rs); \
		fuzz/seeds.sh $$target $(CORPORA)/$$target && $(FUZZ) run --fuzz-dir fuzz $$target $(CORPORA)/$$target -- \
			-max_total_time=$(SECONDS) -timeout=20 -rss_limit_mb=1024 -print_final_stats=1 || exit; \
	done

sanitize: ## unsafe code of readlab-auto and the Rust contender under LLVM's address sanitizer and, where it can be, Miri; needs a nightly toolchain with miri
	@if ! rustup run nightly cargo miri --version >/dev/null 2>&1; then \
		echo "SKIPPED: no nightly toolchain with miri: rustup toolchain install nightly --component miri" >&2; exit; \
	fi; \
	host=$$(rustc --version --verbose | sed -n 's/^host: //p'); \
	RUSTUP_TOOLCHAIN=nightly RUSTFLAGS=-Zsanitizer=address $(CARGO) test --package readlab-rust --all-targets \
		--target $$host --target-dir $(TARGET_DIR)/sanitize && \
	RUSTUP_TOOLCHAIN=nightly RUSTFLAGS=-Zsanitizer=address $(CARGO) test --package readlab-auto --lib --tests \
		--target $$host --target-dir $(TARGET_DIR)/sanitize && \
	RUSTUP_TOOLCHAIN=nightly MIRIFLAGS=-Zmiri-disable-isolation $(CARGO) miri test --package readlab-rust --lib \
		--target-dir $(TARGET_DIR)/miri -- scan:: segments:: && \
	RUSTUP_TOOLCHAIN=nightly MIRIFLAGS=-Zmiri-disable-isolation $(CARGO) miri test --package readlab-auto \
		--target-dir $(TARGET_DIR)/miri --lib

audit: ## known advisories, licences and sources of all dependencies; needs the advisories' database from the network
	[ -x $(TOOLS)/bin/cargo-deny ] || $(CARGO) install --quiet --locked --root $(TOOLS) cargo-deny
	$(TOOLS)/bin/cargo-deny check

dist: ## what a release has, in target/dist/package: static program, Debian package, crates, Containerfile, formula
	packaging/dist.sh

schemas: ## write docs/schema again from the types that are serialized; the lists of fields there only grow
	$(CARGO) build --package readlab
	for name in $$($(TARGET_DIR)/debug/readlab schema | cut -d' ' -f1); do \
		$(TARGET_DIR)/debug/readlab schema $$name >docs/schema/$$name.json || exit; \
	done
	$(CARGO) test --quiet --workspace --lib -- --ignored --exact tests::schemas::append_new_fields

goldens: ## accept what the tests print, export and log now as expected; read the result of git diff
	INSTA_UPDATE=always $(CARGO) test --no-fail-fast --workspace --tests -- \
		tests:: cli::compare:: cli::verbs::

pictures: build ## draw the README's pictures again from a race on this machine; needs script and chromium
	$(CARGO) build --release --package readlab-bench --bin readlab-picture
	docs/pictures.sh pictures

gallery: build ## make the pages of docs/gallery again from runs on this machine, or those of ARGS; half an hour, as root all
	docs/pictures.sh gallery $(ARGS)

toolchains: ## install a Swift compiler, on Debian: 3 GB of disk
	contenders/swift/toolchain.sh

clean: ## remove build results; 'readlab corpus clean' removes test files from the user's cache folder
	rm -rf contenders/*/build
	$(CARGO) clean
