# make conformance   tests the bundled reference, or TARGET=url and AGENT_TARGET=url; ARGS= for more flags of run
# make test          what protects each change, in minutes; make lint: format, vet, staticcheck, modules
# make bench         compares the time and memory of test runs with BASE=commit
# make nightly       everything else, in an hour at most
GO ?= go
OUT ?= out
BIN := bin/agentconform

# Compilers, linters and tests allocate much and keep little: less frequent garbage collection saves a fifth of their time.
export GOGC ?= 400

.PHONY: conformance build test lint nightly unit race race-run race-tests readme gate proof-over-tcp format vet staticcheck modules browser \
	nightly-race proof tests interop hostile fuzz apart release reproducible requirements docs golden notice picture bench clean

# The flag for a variable that was set, also where it was set to nothing on the command line: run refuses that.
given = $(if $(findstring command,$(origin $(1)))$($(1)),$(2) '$($(1))')

conformance: build
	$(BIN) run --out $(OUT)/conformance $(call given,TARGET,--target) $(call given,AGENT_TARGET,--agent-target) $(ARGS)

build:
	$(GO) build -o $(BIN) ./cmd/agentconform

test:
	@.ci/parts unit race readme gate

lint:
	@.ci/parts format vet staticcheck modules

# Ordered so that failures are reported as early as possible. It continues after a failed part, and lists the failed parts at the end.
nightly:
	@.ci/parts -k tests apart nightly-race fuzz interop proof hostile

format:
	@test -z "$$(gofmt -l .)" || { echo "not formatted, run gofmt -w on:"; gofmt -l .; exit 1; }

# Also what make browser and make tests build, in files with build tags.
TAGS := nightly,browser
vet:
	$(GO) vet -tags $(TAGS) ./...

staticcheck:
	$(GO) tool staticcheck -tags $(TAGS) ./...

modules:
	$(GO) mod verify
	$(GO) mod tidy -diff

# The timeout of tests. It only ends tests that hang.
LIMIT := 40m

# The tests of the self-test. make gate and make proof run them.
PROOFS := ^Test(Gate|Whole|Generated|Replay|OverTCP)$$

# The tests of every package, compiled once, without the self-test.
unit:
	$(GO) test -vet=off -parallel 8 -timeout $(LIMIT) -skip '$(PROOFS)' ./...

# The race detector where goroutines are, and over one whole run of the suite against the reference.
race:
	$(GO) build -race -o $(BIN)-race ./cmd/agentconform
	@$(MAKE) --no-print-directory -j2 race-run race-tests

race-run:
	$(BIN)-race run --out $(OUT)/race

race-tests:
	$(GO) test -race -vet=off -skip LargeBodies -parallel 8 -timeout $(LIMIT) ./steps/client/... ./steps/evidence ./steps/suite \
		./steps/plane ./steps/agent/... ./reference/agentserver/... ./reference/controlplane ./reference/memnet

# Runs the commands of the README, and the features in the other edition.
readme: build
	.ci/readme

# The gate of the self-test, in virtual time: each fault must fail its requirement, each equivalent mutant must pass. It is never
# cached, and writes out/gate/rows.json. One server: go test ./reference/prover -run 'Gate/limit-101-is-served'.
gate:
	$(GO) -C reference/prover test -vet=off -count=1 -timeout $(LIMIT) -run '^TestGate$$'

# Tests the page of the report in a browser. The tests are skipped if chromium is not installed.
browser:
	$(GO) test -tags browser -vet=off -timeout 10m ./reports/html

# --- Parts of make nightly ---

# The tests that need much time: graphs that break their contract, scripts of findings, the page for vendors.
# RUN= for some of them.
RUN ?= .
tests:
	$(GO) test -tags nightly -vet=off -parallel 6 -timeout $(LIMIT) -run '$(RUN)' -skip '$(PROOFS)' ./...

# All tests, and one server in twenty of the gate, with the race detector.
nightly-race:
	$(GO) test -race -vet=off -parallel 4 -timeout $(LIMIT) -skip '$(PROOFS)' ./...
	$(GO) -C reference/prover test -race -vet=off -count=1 -timeout $(LIMIT) -run '^TestGate$$' -args -one-of 20

# The whole self-test in virtual time: all scenarios against every server, all mutants that are derived from the contract, the replay of the
# findings of each fault; then one server in ten over TCP. .ci/survivors.txt lists the mutants that may survive.
proof:
	$(GO) -C reference/prover test -tags nightly -vet=off -count=1 -timeout 90m -run '^Test(Whole|Generated|Replay|OverTCP)$$'

# The whole self-test over TCP, in half an hour on a machine that does nothing else: before a release.
proof-over-tcp: build
	@mkdir -p $(OUT)
	$(BIN) prove --whole --all --replay --out $(OUT)/proof >$(OUT)/proof.txt 2>$(OUT)/proof.log || grep '^self-test failed' $(OUT)/proof.txt
	@sed -n 's/^PROBLEM  \([a-z]* [^:]*\):.*/\1/p' $(OUT)/proof.txt | sort > $(OUT)/survivors.txt
	@new=$$(sed '/^#/d' .ci/survivors.txt | sort | comm -13 - $(OUT)/survivors.txt); \
		[ -z "$$new" ] || { echo "not in .ci/survivors.txt:"; grep -F "$$new" $(OUT)/proof.txt; exit 1; }

# Servers and clients that others wrote, from PyPI and npm, against reviewed verdicts (interop/README.md).
interop: build
	interop/run.sh
	interop/mutants.sh
	interop/table.sh
	interop/proxy.sh
	interop/clients.sh

# Hostile targets: verdicts, and the time and memory of the binary from outside. HOSTILE= for flags: -only NAME,... -sample N -seconds S.
hostile: build
	$(GO) run ./reference/hostile/run -bin $(BIN) -out $(OUT)/hostile $(HOSTILE)

# Runs each fuzz target. A failing input is written to testdata/fuzz in the same folder, and belongs to the corpus from then on.
# A target that fails is tried once more, because a failing input must fail again: go test sometimes ends a target after its time with "context
# deadline exceeded" (golang/go#75804, until Go 1.27).
FUZZTIME ?= 10s
fuzz:
	@mkdir -p $(OUT)
	@$(GO) test -list '^Fuzz' $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u) > $(OUT)/fuzz.txt
	@awk '/^Fuzz/ { target[n++] = $$1 } /^ok/ { for (i = 0; i < n; i++) print $$2, target[i]; n = 0 }' $(OUT)/fuzz.txt | { failed=; while read -r package target; do \
		echo "== $$package $$target"; for i in 1 2; do \
			$(GO) test "$$package" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) </dev/null && break; \
			[ $$i = 1 ] || failed="$$failed $$target"; \
		done; \
	done; [ -z "$$failed" ] || { echo "failed:$$failed"; exit 1; }; }

# What has a module of its own: the manifests of docs/kubernetes and the types of the Kubernetes API; the image of a release.
apart:
	$(GO) -C .ci/kubernetes test ./...
	$(GO) -C .ci/release test .

# --- The release ---

# Builds archives, packages, lists of modules, checksums and the image of this commit into out/release, and publishes nothing. The workflow
# makes FLAGS empty, and names the image in PUSH. The tools are in .ci/release/go.mod; the first build of goreleaser takes minutes.
FLAGS = --snapshot --skip=sign
PUSH =
RELEASE := out/release
release: build
	@rm -rf out/texts && mkdir -p out/texts
	@for shell in bash zsh fish; do $(BIN) completion $$shell > out/texts/agentconform.$$shell; done; $(BIN) man > out/texts/agentconform.1
	CGO_ENABLED=0 $(GO) -C .ci/release build -trimpath -buildvcs=false -o ../../bin/ . tool
	bin/goreleaser release --config .ci/release/goreleaser.yaml --clean $(FLAGS)
	bin/release -version "$$(sed 's/.*"version":"\([^"]*\)".*/\1/' $(RELEASE)/metadata.json)" -commit "$$(git rev-parse HEAD)" -created "$$(git log -1 --format=%ct)" \
		-out $(RELEASE)/image -push '$(PUSH)' amd64=$(RELEASE)/agentconform_linux_amd64_v1/agentconform arm64=$(RELEASE)/agentconform_linux_arm64_v8.0/agentconform \
		> $(RELEASE)/image.digest

# Builds the release here and in a clone in another folder: all checksums must be equal.
reproducible: release
	clone=$$(mktemp -d) && git clone -q . $$clone && $(MAKE) -C $$clone release && \
		cmp $(RELEASE)/checksums.txt $$clone/$(RELEASE)/checksums.txt && \
		cmp $(RELEASE)/image.digest $$clone/$(RELEASE)/image.digest && rm -rf $$clone

# --- What is generated ---

# The version whose requirement set is not released yet.
SET := 0.1

# Generates the page of requirements, and the set of the next release, from the features. Tests fail if they are out of date.
requirements: build
	$(BIN) list --format markdown > features/REQUIREMENTS.md
	$(GO) run ./cmd/freeze $(SET)

# Freezes the set before a release: adds the tables of the judgements, whose passing rows must pass from then on.
.PHONY: freeze
freeze: requirements
	$(GO) run ./cmd/freeze -judgements $(SET)

# The specification as one page, $(OUT)/spec/index.html, with exchanges of the reference and of a fault of each requirement.
.PHONY: spec-page
spec-page: build
	@rm -rf $(OUT)/examples && mkdir -p $(OUT)/examples $(OUT)/spec
	$(BIN) prove --examples $(OUT)/examples/results --out $(OUT)/examples >$(OUT)/examples/proof.txt 2>&1 || grep PROBLEM $(OUT)/examples/proof.txt
	$(BIN) list --format html --result "$$(ls -d $(OUT)/examples/results/*.json | paste -sd,)" > $(OUT)/spec/index.html

# Generates the schema and the page of the configuration from its keys. Tests fail if they are out of date.
docs: build
	$(BIN) schema > docs/config.schema.json
	$(BIN) schema --format markdown > docs/configuration.md

# Updates the golden files of the reports: review the difference.
golden:
	$(GO) test -count=1 ./reports/attest ./reports/badge ./reports/compare ./reports/console ./reports/cucumber ./reports/events ./reports/github ./reports/har ./reports/html ./reports/junit ./reports/markdown ./reports/support -update

# Writes NOTICE: the modules that are linked into the binary (go-licenses), each licence once, and their own NOTICE files. A test fails if a
# module or version of it is outdated.
notice:
	{ $(GO) run github.com/google/go-licenses@v1.6.0 report ./cmd/agentconform --ignore github.com/agentconform --template .ci/notice.tmpl; \
		printf '\n%0114d\nGo, standard library\nBSD-3-Clause\n\n' 0 | tr 0 =; cat "$$($(GO) env GOROOT)/LICENSE"; } | \
		.ci/notice $$($(GO) list -deps -f '{{with .Module}}{{if not .Main}}{{.Dir}}{{end}}{{end}}' ./cmd/agentconform | sort -u | \
			xargs -I{} find {} -maxdepth 1 -name 'NOTICE*') > NOTICE.new
	mv NOTICE.new NOTICE

# Makes the picture of the README (with chromium), and prints the console of the same run.
picture:
	.ci/picture

# Compares the benchmarks of whole test runs with those of another commit, which has them. Both are built first, and then run in turn.
BASE ?= HEAD~1
BENCH := $(OUT)/bench
bench:
	@rm -rf $(BENCH) && mkdir -p $(BENCH)
	$(GO) test -c -o $(BENCH)/new.test ./steps
	@git clone -q . $(BENCH)/old && git -C $(BENCH)/old checkout -q $$(git rev-parse $(BASE))
	$(GO) -C $(BENCH)/old test -c -o ../old.test ./steps
	@for i in 1 2 3 4 5 6; do for which in old new; do \
		$(BENCH)/$$which.test -test.run '^$$' -test.bench . -test.benchtime 1x >> $(BENCH)/$$which.txt || exit 1; \
	done; done
	$(GO) run golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da $(BENCH)/old.txt $(BENCH)/new.txt

clean:
	rm -rf bin $(OUT)
