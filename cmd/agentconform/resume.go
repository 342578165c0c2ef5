package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/resume"
)

// checkResume refuses flags that --resume leaves no room for, and makes its folder that of the reports.
func (f *runFlags) checkResume(changed func(flag string) bool) error {
	switch {
	case f.resume == "" && changed("resume"):
		return errors.New("--resume is empty: name the folder that was given with --out")
	case f.resume == "":
		return nil
	case changed("out") && filepath.Clean(f.out) != filepath.Clean(f.resume):
		return errors.New("--resume writes the reports into the folder that it names: remove --out")
	case f.plan:
		return errors.New("--plan sends nothing, and --resume goes on with a run: remove one of them")
	}
	f.out = f.resume
	return nil
}

// identityOf is what a run has in common with its resumption. It is nil for the bundled reference, which ends with the run.
func (f *runFlags) identityOf(cfg *config.Config) (*resume.Identity, error) {
	if cfg.Target == "" && cfg.AgentTarget == "" {
		if f.resume != "" {
			return nil, errors.New("--resume needs the target of the run: name it with --config, --target or --agent-target (a run of the bundled reference cannot be resumed: the reference ended with it)")
		}
		return nil, nil
	}
	keys, err := resume.Configuration(cfg)
	if err != nil {
		return nil, err
	}
	selection := map[string]string{}
	for flag, value := range map[string]string{
		"--only": strings.Join(f.only, ","), "--skip": strings.Join(f.skip, ","), "--profile": strings.Join(f.profiles, ","),
		"--tags": f.tags, "--shard": f.shard, "--read-only": strconv.FormatBool(f.readOnly),
	} {
		if value != "" && value != "false" {
			selection[flag] = value
		}
	}
	return &resume.Identity{Version: fullVersion(suiteVersion(), suiteCommit()), Configuration: keys, Selection: selection}, nil
}

// openJournal opens the journal of the run: that of a run that was broken off, or a new one. broken is nil for a new run; both are nil
// for a run that cannot be resumed.
func (f *runFlags) openJournal(identity *resume.Identity, catalogue *features.Catalogue, io streams) (*resume.Journal, *resume.Broken, resume.Header, error) {
	if f.resume == "" {
		if err := os.MkdirAll(f.out, 0o755); err != nil {
			return nil, nil, resume.Header{}, fmt.Errorf("creating the folder for the reports: %w; name another with --out", err)
		}
	}
	h := resume.Header{ID: runID(), Seed: seedOr(f.seed), StartedAt: time.Now().UTC()}
	if identity == nil {
		return nil, nil, h, nil
	}
	h.Identity = *identity
	h.Digest = catalogue.Digest()
	if f.resume == "" {
		if _, err := os.Stat(filepath.Join(f.out, resume.File)); err == nil {
			f.tell(io, "%s has the journal of a run that was broken off, and this run replaces it (--resume would go on with it)", f.out)
		}
		journal, err := resume.Create(f.out, h)
		return journal, nil, h, err
	}
	broken, err := resume.Read(f.resume, catalogue, time.Now())
	if err != nil {
		return nil, nil, h, err
	}
	if err := broken.Check(h.Identity, f.seed); err != nil {
		return nil, nil, h, err
	}
	journal, err := broken.Continue()
	f.tell(io, "resuming run %s: %s taken over", broken.ID, reports.Count(len(broken.Ended), "scenario"))
	return journal, broken, broken.Header, err
}
