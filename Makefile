# Everything that is run by hand or by continuous integration is a target here.
GO ?= go
FUZZTIME ?= 10s
SOAKTIME ?= 10m
SOAKSEED ?= 0
SWEEP ?= 500
STORM ?= 2000
STORMSEED ?= 1
BENCHCOUNT ?= 10
STRAGGLERTIME ?= 20m
RANKS ?= 4
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2

# Guests are not built with the host's flags.
GUEST = GOOS=wasip1 GOARCH=wasm $(GO) build

.DEFAULT_GOAL := help

.PHONY: help
help: ## show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z_-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: ## build bin/ccrun
	$(GO) build -o bin/ccrun ./cmd/ccrun

.PHONY: demo
demo: ## run a verified ring all-gather, written in Go, on four ranks
	@.ci/install go
	$(GO) build -o bin/ccrun ./cmd/ccrun
	$(GUEST) -o bin/ring_allgather.wasm ./workflows/ring_allgather
	bin/ccrun -n $(RANKS) bin/ring_allgather.wasm -bytes 16MiB -slice 1MiB -iters 10

.PHONY: test
test: ## install what the tests need, then run vet and all tests
	@.ci/install go clang
	@.ci/install browser
	@.ci/jaeger
	$(GO) vet ./...
	@$(GO) run .ci/tests.go -timeout 10m ./...

.PHONY: race
race: ## run the tests of the host under the race detector
	@$(GO) run .ci/tests.go -race ./host/... ./runner/... ./traces/...

.PHONY: check
check: generate format tidy lint test ## what a change must pass: leaves no difference behind
	git diff --exit-code

.PHONY: generate
generate: ## rewrite what is generated from the ABI table
	$(GO) generate ./...

.PHONY: golden
golden: ## rewrite golden files; read the difference before you commit it
	$(GO) test $$(grep -rlE 'cockroachdb/datadriven|"rewrite"' --include='*_test.go' . | xargs -n 1 dirname | sort -u) -rewrite

.PHONY: jaeger
jaeger: ## build bin/jaeger, to look at spans with, and say how
	@.ci/jaeger
	@.ci/jaeger usage

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME (10s)
	@set -e; for dir in $$(grep -rl '^func Fuzz' --include='*_test.go' . | xargs -n 1 dirname | sort -u); do \
		for target in $$(grep -ho '^func Fuzz[A-Za-z0-9_]*' $$dir/*_test.go | cut -c 6-); do \
			echo "fuzz: $$dir $$target"; \
			$(GO) test $$dir -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME); \
		done; \
	done

.PHONY: soak
soak: ## call random collectives for SOAKTIME (10m) and watch the ranks' memory; SOAKSEED=n replays
	@.ci/install go
	$(GO) test ./cmd/ccrun -run '^TestSoak$$' -count 1 -timeout 0 -v -args -soak $(SOAKTIME) -soakseed $(SOAKSEED)

.PHONY: sweep
sweep: ## simulate random collectives with SWEEP (500) seeds, machines and faults
	@.ci/install go
	$(GO) test ./cmd/ccrun -run '^TestSimulationSweep$$' -count 1 -timeout 0 -args -sweep $(SWEEP)

.PHONY: storm
storm: ## move random tensors and boxes in STORM (2000) random bucket pipelines, simulated, a tenth of them on processes too; STORMSEED=n for others
	@.ci/install go
	$(GO) test ./cmd/ccrun -run '^TestStormOfBuckets' -count 1 -timeout 0 -v -args -storm $(STORM) -stormcpu $$(($(STORM) / 10)) -stormseed $(STORMSEED)

.PHONY: straggler
straggler: ## slow one rank down in 20 runs of each of eight workloads, and see that it is named, and nobody in 20 others
	@.ci/install go
	$(GO) test ./cmd/ccrun -run '^TestStragglers$$' -count 1 -timeout 0 -v -args -stragglers 20 -stragglertime $(STRAGGLERTIME)

.PHONY: bench
bench: ## run the benchmarks into bench.txt, for benchstat, then compare with Open MPI and SimGrid
	@.ci/install go clang mpi simgrid
	$(GO) test ./... -run '^$$' -bench . -benchmem -count $(BENCHCOUNT) -p 1 | tee bench.txt
	$(GO) run ./host/coll/peers
	$(GO) run ./host/device/sim/peers

.PHONY: bench-peers
bench-peers: ## compare collectives with those of Open MPI, MPICH and Gloo; PEERFLAGS='-n 2 -rounds 3'
	@.ci/install go mpi peers
	$(GO) run ./host/coll/peers collectives $(PEERFLAGS)

.PHONY: bench-sim
bench-sim: ## compare the simulator with SimGrid's SMPI, a ring of 1,024 ranks; PEERFLAGS='-rounds 1 -worlds 4096'
	@.ci/install go clang simgrid
	$(GO) run ./host/device/sim/peers $(PEERFLAGS)

.PHONY: bench-cost
bench-cost: ## price the sandbox and the recorder: what they add to an operation
	@.ci/install go
	$(GO) run ./runner/bench/cost

.PHONY: validate
validate: ## compare the simulator with published figures; VALIDATEFLAGS='-only NCCL', -json, -bands
	$(GO) run ./host/device/sim/validate $(VALIDATEFLAGS)

.PHONY: lint
lint: ## vet and staticcheck
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

.PHONY: format
format: ## gofmt all files
	gofmt -l -w .

.PHONY: tidy
tidy: ## bring go.mod and go.sum up to date
	$(GO) mod tidy
