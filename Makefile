# make conformance   judge the bundled reference, or TARGET=url and AGENT_TARGET=url; ARGS= for more flags of run
# make test          everything CI checks
GO ?= go
OUT ?= out
BIN := bin/agentconform

.PHONY: conformance test build format vet lint modules unit features requirements readme proof golden clean

conformance: build
	$(BIN) run --out $(OUT)/conformance $(if $(TARGET),--target '$(TARGET)') $(if $(AGENT_TARGET),--agent-target '$(AGENT_TARGET)') $(ARGS)

build:
	$(GO) build -o $(BIN) ./cmd/agentconform

test: format vet lint modules unit features readme proof

format:
	@test -z "$$(gofmt -l .)" || { echo "not formatted, run gofmt -w on:"; gofmt -l .; exit 1; }

vet:
	$(GO) vet ./...

lint:
	$(GO) tool staticcheck ./...

modules:
	$(GO) mod verify
	$(GO) mod tidy -diff

# The tests of every package under the race detector. Those whose names end in _Long (many servers, the browser, large
# runs, hostile bodies at full size) do less there or nothing, and run in full without it.
unit:
	$(GO) test -race -short -vet=off -parallel 4 -timeout 10m ./...
	$(GO) test -run '_Long$$' -vet=off -timeout 10m $$(grep -rl --include='*_test.go' 'func Test.*_Long(' . | xargs -n1 dirname | sort -u)

# The features against the reference, in both editions.
features:
	$(MAKE) --no-print-directory conformance
	$(MAKE) --no-print-directory conformance ARGS="--edition self-hosted"

# Renews the page of the requirements from the features. A test fails when it is stale.
requirements: build
	$(BIN) list --format markdown > features/REQUIREMENTS.md

# The commands of the README.
readme: build
	.ci/readme

# The suite against every fault and variation; the figures in the README must be those of this proof.
proof: build
	$(BIN) prove --out $(OUT)/proof --readme README.md
	@git diff --exit-code --stat README.md || { echo "the figures of the proof in README.md were stale and are renewed: commit them"; exit 1; }

# The run that the tests of the reports use, recorded anew, and the golden files that follow from it: review the difference.
golden:
	$(GO) test -count=1 ./cmd/agentconform -run TestRecordedRun_Long -update
	$(GO) test -count=1 ./reports/badge ./reports/compare ./reports/console ./reports/cucumber ./reports/har ./reports/html ./reports/junit ./reports/markdown -update

clean:
	rm -rf bin $(OUT)
