package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/prover"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

// targetFlags say what is tested. All commands that ask a target have them.
type targetFlags struct{ target, agentTarget, config string }

func (t *targetFlags) add(c *cobra.Command) {
	t.addAddresses(c)
	t.addConfig(c)
}

func (t *targetFlags) addAddresses(c *cobra.Command) {
	c.Flags().StringVar(&t.target, "target", "", "base `URL` of the control plane")
	c.Flags().StringVar(&t.agentTarget, "agent-target", "", "base `URL` of a deployed agent server")
}

func (t *targetFlags) addConfig(c *cobra.Command) {
	c.Flags().StringVar(&t.config, "config", "", "configuration `file` (default "+config.DefaultFile+", if it exists)")
}

// addresses are the values of these flags by key. They name what is judged: with one of them, the other address of the
// file or the environment is left out.
func (t *targetFlags) addresses() map[string]string {
	if t.target == "" && t.agentTarget == "" {
		return map[string]string{}
	}
	return map[string]string{"target": t.target, "agent_target": t.agentTarget}
}

// load reads the configuration with these flags over it.
func (t *targetFlags) load() (*config.Config, error) {
	return config.Load(config.Sources{File: t.config, Environ: os.Environ(), Flags: t.addresses()})
}

// loadNamed is load for commands that have nothing to do without a target.
func (t *targetFlags) loadNamed() (*config.Config, error) {
	cfg, err := t.load()
	if err == nil && len(cfg.Addresses()) == 0 {
		err = errors.New("no target is configured: name one with --config, --target or --agent-target " +
			"(the bundled reference ends with its run)")
	}
	return cfg, err
}

// open makes a target ready to be tested, and fills in the options what it is judged by. When these are checked, it
// starts the bundled reference in the edition where the configuration names no target, and serves fixtures where it
// wants them, until the returned function is called.
func open(ctx context.Context, cfg *config.Config, edition string, o *steps.Options) (stop func(), err error) {
	o.Config = cfg
	o.Version = suiteVersion()
	o.Commit = suiteCommit()
	o.Arguments = os.Args[1:]
	if o.Catalogue, o.Oracle, err = steps.Requirements(); err != nil {
		return nil, err
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	switch nameless := withoutTarget(cfg); {
	case nameless != "":
		err = fmt.Errorf("%s names no target: set target or agent_target; to test the bundled reference, leave it out", nameless)
	case len(cfg.Addresses()) == 0:
		stop, err = startBundled(ctx, cfg, edition) // it has fixtures of its own
	case edition != "":
		err = errors.New("--edition is for the bundled reference, but a target is configured: remove one of them")
	default:
		o.Fixtures, stop, err = startFixtures(cfg)
	}
	return stop, err
}

// isVariable tells the variables in [config.Config].From from the file.
var isVariable = regexp.MustCompile("^" + config.EnvPrefix + `[A-Z0-9_]+$`)

// withoutTarget is what was to name the target and does not: a variable that is empty, or a file. The reference must not
// be judged in its place.
func withoutTarget(cfg *config.Config) (by string) {
	if len(cfg.Addresses()) > 0 {
		return ""
	}
	for _, from := range cfg.From { // the file is the first
		if !isVariable.MatchString(from) || strings.HasSuffix(from, "TARGET") {
			by = from
		}
	}
	return by
}

// startBundled starts the reference in the process and points the configuration at it.
func startBundled(ctx context.Context, cfg *config.Config, edition string) (stop func(), err error) {
	server, err := reference.Start(ctx, reference.Options{Edition: edition})
	if err != nil {
		return nil, &exit{fmt.Errorf("starting the bundled reference: %w", err), exitIncomplete}
	}
	// It is in this process, and has its own credentials.
	cfg.Headers = config.Headers{}
	cfg.TLS = config.TLS{}
	cfg.Proxy = ""
	cfg.Resolve = nil
	cfg.Socket = config.Sockets{}
	cfg.SecretFiles = nil
	cfg.Fixtures.Serve = ""
	cfg.Fixtures.Advertise = ""
	describe(cfg, server)
	stop = func() { _ = server.Close() } // its data is temporary, and nothing is left to do about it
	if err := cfg.Complete(); err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}

// describe writes into the configuration how the reference is judged.
func describe(cfg *config.Config, server *reference.Server) {
	prover.Describe(cfg, server)
	cfg.Implementation.Version = suiteVersion()
}
