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

// targetFlags are the flags that choose the target. All commands that send requests to a target have them.
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

// addresses returns the values of these flags by key. If one flag is given, both addresses in the file and the
// environment are ignored.
func (t *targetFlags) addresses() map[string]string {
	if t.target == "" && t.agentTarget == "" {
		return map[string]string{}
	}
	return map[string]string{"target": t.target, "agent_target": t.agentTarget}
}

// load reads the configuration and applies these flags.
func (t *targetFlags) load() (*config.Config, error) {
	return config.Load(config.Sources{File: t.config, Environ: os.Environ(), Flags: t.addresses()})
}

// loadNamed reads the configuration for commands that need a target.
func (t *targetFlags) loadNamed() (*config.Config, error) {
	cfg, err := t.load()
	if err != nil {
		return nil, err
	}
	if len(cfg.Addresses()) == 0 {
		return nil, errors.New("no target is configured: name one with --config, --target or --agent-target " +
			"(the bundled reference ends with its test run)")
	}
	return cfg, nil
}

// open fills in the options and prepares the target: it starts the bundled reference in the edition if the
// configuration names no target, and serves fixtures if the configuration has them, until the returned function is
// called.
func open(ctx context.Context, cfg *config.Config, edition string, o *steps.Options) (stop func(), err error) {
	o.Config = cfg
	o.Version = suiteVersion()
	o.Commit = suiteCommit()
	o.Arguments = os.Args[1:]
	o.Catalogue, o.Oracle, err = steps.Requirements()
	if err != nil {
		return nil, err
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	source := sourceWithoutTarget(cfg)
	switch {
	case source != "":
		return nil, fmt.Errorf("%s names no target: set target or agent_target; to test the bundled reference, remove it", source)
	case len(cfg.Addresses()) == 0:
		return startBundled(ctx, cfg, edition) // the reference has its own fixtures
	case edition != "":
		return nil, errors.New("--edition is for the bundled reference, but a target is configured: remove one of them")
	}
	o.Fixtures, stop, err = startFixtures(cfg)
	return stop, err
}

// isVariable distinguishes the variables in [config.Config].From from the file.
var isVariable = regexp.MustCompile("^" + config.EnvPrefix + `[A-Z0-9_]+$`)

// sourceWithoutTarget returns the file or the empty variable that should name the target but does not, or "". In that
// case the bundled reference must not be tested instead.
func sourceWithoutTarget(cfg *config.Config) (source string) {
	if len(cfg.Addresses()) > 0 {
		return ""
	}
	for _, from := range cfg.From { // the configuration file is the first source
		if !isVariable.MatchString(from) || strings.HasSuffix(from, "TARGET") {
			source = from
		}
	}
	return source
}

// startBundled starts the reference in this process and changes the configuration to test it.
func startBundled(ctx context.Context, cfg *config.Config, edition string) (stop func(), err error) {
	server, err := reference.Start(ctx, reference.Options{Edition: edition})
	if err != nil {
		return nil, &exit{fmt.Errorf("starting the bundled reference: %w", err), exitIncomplete}
	}
	// The reference is in this process and has its own credentials.
	cfg.Headers = config.Headers{}
	cfg.TLS = config.TLS{}
	cfg.Proxy = ""
	cfg.Resolve = nil
	cfg.Socket = config.Sockets{}
	cfg.SecretFiles = nil
	cfg.Fixtures.Serve = ""
	cfg.Fixtures.Advertise = ""
	describe(cfg, server)
	stop = func() { _ = server.Close() } // an error has no consequence, because the data is temporary
	if err := cfg.Complete(); err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}

// describe sets the keys of the configuration that describe the reference.
func describe(cfg *config.Config, server *reference.Server) {
	prover.Describe(cfg, server)
	cfg.Implementation.Version = suiteVersion()
}
