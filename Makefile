# make conformance   tests the bundled reference, or TARGET=url and AGENT_TARGET=url; ARGS= for more flags of run
# make test          everything CI checks
GO ?= go
OUT ?= out
BIN := bin/agentconform

# Compilers, linters and tests allocate much and keep little: less frequent garbage collection saves a fifth of their time.
export GOGC ?= 400

.PHONY: conformance test build format vet lint modules unit features requirements docs readme proof proof-all interop hostile golden peers clean notice fuzz

# The flag for a variable that was set, also where it was set to nothing on the command line: run refuses that.
given = $(if $(findstring command,$(origin $(1)))$($(1)),$(2) '$($(1))')

conformance: build
	$(BIN) run --out $(OUT)/conformance $(call given,TARGET,--target) $(call given,AGENT_TARGET,--agent-target) $(ARGS)

build:
	$(GO) build -o $(BIN) ./cmd/agentconform

test: format vet lint modules unit features readme proof

format:
	@test -z "$$(gofmt -l .)" || { echo "not formatted, run gofmt -w on:"; gofmt -l .; exit 1; }

# Without the race detector, so that files with "//go:build !race" are checked too; build and unit reuse what is compiled.
vet:
	$(GO) vet ./...

lint:
	$(GO) tool staticcheck ./...

modules:
	$(GO) mod verify
	$(GO) mod tidy -diff

# The tests of every package under the race detector. Tests named _Long (many servers, the browser, large runs, hostile bodies
# at full size) do less there, and run in full without it. Code that needs large libraries for them is in files with
# "//go:build !race", and is compiled once; what takes longer to compile than the suite is not compiled here (make peers).
unit:
	$(GO) test -race -short -vet=off -parallel 4 -timeout 10m ./...
	$(GO) test -run '_Long$$' -vet=off -parallel 6 -timeout 10m $$(grep -rl --include='*_test.go' 'func Test.*_Long(' . | xargs -n1 dirname | sort -u)

# The features against the reference, in both editions.
features:
	$(MAKE) --no-print-directory conformance
	$(MAKE) --no-print-directory conformance ARGS="--edition self-hosted"

# Generates the page of requirements from the features. A test fails if it is out of date.
requirements: build
	$(BIN) list --format markdown > features/REQUIREMENTS.md

# Generates the schema and the page of the configuration from its keys, and the files that documents quote. Tests fail if they are
# out of date.
docs: build
	$(BIN) schema > docs/config.schema.json
	$(BIN) schema --format markdown > docs/configuration.md
	$(GO) test -count=1 ./cmd/agentconform -run TestFilesInTheDocuments -quote

# Runs the commands of the README.
readme: build
	.ci/readme

# The self-test. The figures in the README must be those of this run.
proof: build
	$(BIN) prove --out $(OUT)/proof --readme README.md --concurrency 18
	@git diff --exit-code --stat README.md || { echo "the figures of the self-test in README.md were outdated and are updated: commit them"; exit 1; }

# The self-test with all generated mutants, a quarter of an hour. Some survive: they are what the suite does not see yet.
proof-all: build
	$(BIN) prove --all --out $(OUT)/proof --readme README.md --concurrency 18

# Servers and clients that others wrote, from PyPI and npm, against reviewed verdicts (interop/README.md).
interop: build
	interop/run.sh
	interop/mutants.sh
	interop/clients.sh
	interop/page.sh

# Hostile targets: verdicts, and the time and memory of the binary from outside. HOSTILE= for flags: -only NAME,... -sample N -seconds S.
hostile: build
	$(GO) run ./reference/hostile/run -bin $(BIN) -out $(OUT)/hostile $(HOSTILE)

# Each fuzz target in turn. A test holds that each parser of foreign bytes has one (cmd/agentconform/fuzz_table_test.go). What a target
# finds is written to testdata/fuzz beside it, and is part of its corpus from then on.
FUZZTIME ?= 10s
fuzz:
	@mkdir -p $(OUT)
	@$(GO) test -list '^Fuzz' $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u) > $(OUT)/fuzz.txt
	@awk '/^Fuzz/ { target[n++] = $$1 } /^ok/ { for (i = 0; i < n; i++) print $$2, target[i]; n = 0 }' $(OUT)/fuzz.txt | { failed=; while read -r package target; do \
		echo "== $$package $$target"; $(GO) test "$$package" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) </dev/null || failed="$$failed $$target"; \
	done; [ -z "$$failed" ] || { echo "failed:$$failed"; exit 1; }; }

# Records the run that the tests of the reports use again, and updates their golden files: review the difference.
golden:
	$(GO) test -count=1 ./cmd/agentconform -run TestRecordedRun_Long -update
	$(GO) test -count=1 ./reports/badge ./reports/compare ./reports/console ./reports/cucumber ./reports/har ./reports/html ./reports/junit ./reports/markdown -update

# Records what libopenapi-validator says of the rows with which the oracle is tested: review the difference. A test fails if the
# documents, the rows or the versions of the library have changed since.
peers:
	$(GO) test -count=1 -tags peers ./spec -run TestRecordVerdictsOfLibopenapi

# Writes NOTICE: the modules that are linked into the binary, with their licences (go-licenses), their own NOTICE files, and the licence of
# the standard library. A test fails if a module or version of it is outdated.
notice:
	$(GO) run github.com/google/go-licenses@v1.6.0 report ./cmd/agentconform --ignore github.com/agentconform --template .ci/notice.tmpl > NOTICE.new
	for dir in $$($(GO) list -deps -f '{{with .Module}}{{.Dir}}{{end}}' ./cmd/agentconform | sort -u | grep -v "^$$PWD$$"); do \
		for file in "$$dir"/NOTICE*; do test ! -f "$$file" || { printf '\n==== NOTICE of %s\n\n' "$${dir#$$($(GO) env GOMODCACHE)/}"; cat "$$file"; }; done; \
	done >> NOTICE.new
	{ printf '\n==== Go, standard library\n\n'; cat "$$($(GO) env GOROOT)/LICENSE"; } >> NOTICE.new
	mv NOTICE.new NOTICE

clean:
	rm -rf bin $(OUT)
