package resume

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
)

// Identity is what a run and its resumption have in common: the same scenarios, judged in the same way.
type Identity struct {
	Version       string            `json:"version"`       // of the suite
	Digest        string            `json:"digest"`        // of the requirements
	Configuration map[string]string `json:"configuration"` // hash of the value, by key; secrets do not count
	Selection     map[string]string `json:"selection"`     // value, by flag of run
}

// Configuration returns the hash of each key of a configuration that is set, by its first two levels ("timeouts.poll"). In place of
// a secret its name counts, so that credentials may be renewed.
func Configuration(c *config.Config) (map[string]string, error) {
	text, err := yaml.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("comparing the configuration: %w", err)
	}
	var keys map[string]any
	if err := yaml.Unmarshal(text, &keys); err != nil {
		return nil, fmt.Errorf("comparing the configuration: %w", err)
	}
	redact := client.NewRedactor(c.Secrets(), c.Common()...)
	hashes := map[string]string{}
	add := func(key string, value any) error {
		document, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("comparing the configuration at %s: %w", key, err)
		}
		if slices.Contains([]string{`null`, `""`, `{}`, `[]`}, string(document)) {
			return nil
		}
		sum := sha256.Sum256([]byte(redact.Own(string(document))))
		hashes[key] = hex.EncodeToString(sum[:8])
		return nil
	}
	for key, value := range keys {
		inner, isObject := value.(map[string]any)
		if !isObject {
			err = errors.Join(err, add(key, value))
		}
		for name, below := range inner {
			err = errors.Join(err, add(key+"."+name, below))
		}
	}
	return hashes, err
}

// Different says that a run cannot go on with what it is given now.
type Different struct {
	Folder, Run string
	What        []string // for people: "the seed is 2, it was 1"
}

func (d *Different) Error() string {
	return fmt.Sprintf("--resume %s: this is not how run %s was started: %s; give it the same again, or run without --resume", d.Folder, d.Run, strings.Join(d.What, "; "))
}

// Check compares a run that was broken off with what is given now; seed 0 is any. The error is a *Different.
func (b *Broken) Check(now Identity, seed int64) error {
	var what []string
	say := func(differs bool, format string, args ...any) {
		if differs {
			what = append(what, fmt.Sprintf(format, args...))
		}
	}
	say(b.Version != now.Version, "the suite is version %s, it was %.100s", now.Version, b.Version)
	say(b.Version == now.Version && b.Digest != now.Digest, "the requirements of the suite are others (digest %s, it was %.100s)", now.Digest, b.Digest)
	say(seed != 0 && seed != b.Seed, "--seed is %d, it was %d", seed, b.Seed)
	flags := differing(b.Selection, now.Selection)
	for _, flag := range flags[:min(len(flags), maxShown)] {
		say(true, "%.100s is %.200q, it was %.200q", flag, now.Selection[flag], b.Selection[flag])
	}
	keys := differing(b.Configuration, now.Configuration)
	say(len(keys) > 0, "the configuration differs in %.1000s", strings.Join(keys, ", "))
	if len(what) == 0 {
		return nil
	}
	return &Different{b.folder, b.ID, what}
}

// maxShown bounds how many flags of a journal are shown.
const maxShown = 10

// differing are the keys with another value in one of the maps, sorted.
func differing(a, b map[string]string) (keys []string) {
	for key := range maps.Keys(a) {
		if a[key] != b[key] {
			keys = append(keys, key)
		}
	}
	for key := range maps.Keys(b) {
		if _, known := a[key]; !known {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
