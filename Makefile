# make conformance   judge the bundled reference, or TARGET=url and AGENT_TARGET=url; ARGS= for more flags of run
# make test          everything CI checks
GO ?= go
OUT ?= out
BIN := bin/agentconform

.PHONY: conformance test build format vet lint modules unit features readme proof clean

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

# The tests of every package under the race detector, then, without it, those that are long: many servers, the
# browser, large runs, hostile scripts and bodies at full size.
unit:
	$(GO) test -race -short -timeout 10m ./...
	$(GO) test -timeout 10m ./steps ./reports ./cmd/agentconform ./reference/script ./spec

# The features against the reference, in both editions.
features:
	$(MAKE) --no-print-directory conformance
	$(MAKE) --no-print-directory conformance ARGS="--edition self-hosted"

# The commands of the README.
readme: build
	.ci/readme

# The suite against every fault and variation; the figures in the README must be those of this proof.
proof: build
	$(BIN) prove --out $(OUT)/proof --readme README.md
	@git diff --exit-code --stat README.md || { echo "the figures of the proof in README.md were stale and are renewed: commit them"; exit 1; }

clean:
	rm -rf bin $(OUT)
