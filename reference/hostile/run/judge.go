package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reference/hostile"
)

// bench is how modes are judged.
type bench struct {
	bin, out           string
	jobs               int
	timeout            time.Duration
	seconds, megabytes int
}

// row is what one run has shown.
type row struct {
	Name      string   `json:"name"`
	Group     string   `json:"group"`
	Does      string   `json:"does"`
	Verdict   string   `json:"verdict"`
	Exit      int      `json:"exit"`
	Seconds   float64  `json:"seconds"`
	Removal   float64  `json:"removal,omitempty"` // seconds of these in which the suite removed what it had created, which has a bound of its own
	CPU       float64  `json:"cpu"`               // seconds
	Megabytes int      `json:"megabytes"`
	Wrong     []string `json:"wrong,omitempty"`
	Alone     bool     `json:"alone,omitempty"` // it was late beside other runs, and is measured once more without them

	late bool
}

// longestRemoval is the bound, in seconds, of removing what a run has created, and a second in which what is going on ends.
const longestRemoval = 31

// killedAfter is the time beyond the bound after which a run is killed: it hangs.
const killedAfter = 60 * time.Second

// judge serves a mode and judges it.
func (b *bench) judge(ctx context.Context, m hostile.Mode) row {
	r := row{Name: m.Name, Group: m.Group, Does: m.Does}
	if err := b.run(ctx, m, &r); err != nil {
		r.Wrong = append(r.Wrong, err.Error())
	}
	return r
}

func (b *bench) run(ctx context.Context, m hostile.Mode, r *row) error {
	folder := filepath.Join(b.out, m.Name)
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	server, err := hostile.Start(ctx, m)
	if err != nil {
		return fmt.Errorf("starting the server: %w", err)
	}
	defer server.Close()
	keys, err := json.Marshal(server.Config)
	if err != nil {
		return err
	}
	config := filepath.Join(folder, "config.yaml") // JSON is YAML
	if err := os.WriteFile(config, keys, 0o600); err != nil {
		return err
	}
	used, console, err := b.execute(ctx, folder, config)
	if err != nil {
		return err
	}
	r.Exit, r.Seconds, r.CPU, r.Megabytes = used.Exit, used.Seconds, used.CPU, int(used.Bytes>>20)
	r.Wrong = b.compared(m, r, used, console, filepath.Join(folder, "result.json"))
	return nil
}

// execute runs the binary below a process that measures it, and returns what it printed.
func (b *bench) execute(ctx context.Context, folder, config string) (used usage, console []byte, err error) {
	self, err := os.Executable()
	if err != nil {
		return used, nil, err
	}
	measured := filepath.Join(folder, "usage.json")
	c := exec.CommandContext(ctx, self, measureCommand, measured, (b.timeout + killedAfter).String(),
		b.bin, "run", "--config", config, "--out", folder, "--timeout", b.timeout.String(), "--format", "plain")
	c.Env = environment()
	console, err = c.CombinedOutput()
	if err != nil {
		return used, console, fmt.Errorf("measuring the run: %w: %s", err, console)
	}
	if err := os.WriteFile(filepath.Join(folder, "console.txt"), console, 0o644); err != nil {
		return used, console, err
	}
	text, err := os.ReadFile(measured)
	if err != nil {
		return used, console, err
	}
	return used, console, json.Unmarshal(text, &used)
}

// environment is that of a user: without what the Makefile sets for compilers.
func environment() []string {
	var kept []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GOGC=") && !strings.HasPrefix(v, "AGENTCONFORM_") {
			kept = append(kept, v)
		}
	}
	return kept
}
