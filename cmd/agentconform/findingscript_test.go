package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/script"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

// TestAScriptShowsItsFinding judges the reference with a fault that takes several requests to see.
func TestAScriptShowsItsFinding(t *testing.T) {
	t.Parallel()
	for _, fault := range faults.All() {
		if fault.Name == "foreign-run-is-retrieved" {
			assertTheScriptShows(t, fault)
			return
		}
	}
	t.Fatal("there is no such fault")
}

// assertTheScriptShows judges the reference with a fault, and runs the script of the first finding of the fault's
// requirement against the same server: its answer must hold what the finding names.
func assertTheScriptShows(t *testing.T, fault faults.Fault) {
	t.Helper()
	catalogue, oracle := catalogueAndOracle(t)
	options := reference.Options{Edition: fault.Edition}
	fault.Apply(&options)
	server, err := reference.Start(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	cfg := config.Default()
	describe(&cfg, server)
	cfg.Timeouts = config.Timeouts{Request: 4 * time.Second, Poll: 8 * time.Second, Run: 15 * time.Second}
	cfg.Polling = config.Polling{Interval: 5 * time.Millisecond, MaxInterval: 100 * time.Millisecond}
	require.NoError(t, cfg.Complete())
	var selection steps.Selection
	isLast := func(s *features.Scenario) bool { return s.Is(features.TagLast) }
	if q := catalogue.Find(fault.Fails); !slices.ContainsFunc(q.Scenarios, isLast) {
		selection.Only = []string{fault.Fails}
	}
	result, err := steps.Run(t.Context(), steps.Options{Config: &cfg, Catalogue: catalogue, Oracle: oracle, Seed: 1, ID: "scripts",
		Journal: reports.NewMemory(), Select: selection, Keep: true})
	require.NoError(t, err)
	at := slices.IndexFunc(result.Findings, func(f reports.Finding) bool { return f.Requirement == fault.Fails })
	require.GreaterOrEqual(t, at, 0, result.Headline)
	f := result.Findings[at]
	problem := "not tried"
	for attempt := 0; attempt < 3 && problem != ""; attempt++ { // a run that is to be replaced may be over before
		problem = repeated(t, result, &f, cfg.Environment())
	}
	assert.Empty(t, problem, "%s: expected %s, got %s", f.Requirement, f.Expected, f.Actual)
}

// repeated runs the script of a finding and says how its answer differs from the recorded one in what the finding
// names: the status and, at the place of the finding, the value.
func repeated(t *testing.T, r *reports.Result, f *reports.Finding, secrets []string) (problem string) {
	var text bytes.Buffer
	if err := script.Write(&text, r, f); err != nil {
		return err.Error()
	}
	file := filepath.Join(t.TempDir(), "finding.sh")
	require.NoError(t, os.WriteFile(file, text.Bytes(), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	bash := exec.CommandContext(ctx, "bash", file)
	bash.Env = append(os.Environ(), secrets...)
	var log bytes.Buffer
	bash.Stderr = &log
	out, err := bash.Output()
	if err != nil {
		return fmt.Sprintf("%v: %s", err, log.String())
	}
	last := f.Exchanges[len(f.Exchanges)-1].Exchange
	if slices.Contains(f.Exchanges, reports.Link{Exchange: f.Exchange, Part: reports.Observation}) {
		last = f.Exchange
	}
	want, err := r.Exchanges.Get(last)
	require.NoError(t, err)
	head, body, _ := strings.Cut(string(out), "\r\n\r\n")
	status := strings.Fields(head + " none none")[1]
	if status != fmt.Sprint(want.Status) && !(want.Status == 0 && status == "none") {
		return fmt.Sprintf("status %s in place of %d\n%s\n%s", status, want.Status, out, log.String())
	}
	number, _, _ := strings.Cut(f.Actual, " ")
	if _, err := strconv.Atoi(number); err == nil { // the finding counts
		was, is := gjson.Get(want.Response.Body, pathOf(f.Pointer+"/#")).Raw, gjson.Get(body, pathOf(f.Pointer+"/#")).Raw
		if was != is {
			return fmt.Sprintf("%s in place of %s", is, was)
		}
		return ""
	}
	was, is := named(want.Response.Body, f.Pointer), named(body, f.Pointer)
	if index, rest, _ := strings.Cut(strings.TrimPrefix(f.Pointer, "/"), "/"); was != is && gjson.Parse(body).IsArray() && rest == "" {
		if _, err := strconv.Atoi(index); err == nil { // what others have created stands elsewhere in the list
			for i := range gjson.Get(body, "#").Int() {
				if is = named(body, fmt.Sprint("/", i)); was == is {
					break
				}
			}
		}
	}
	if was != is {
		return fmt.Sprintf("%s in place of %s\n%s", is, was, log.String())
	}
	return ""
}

func pathOf(pointer string) string {
	return strings.ReplaceAll(strings.TrimPrefix(pointer, "/"), "/", ".")
}

var changing = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z?|agentconform-[0-9a-z-]+?-(word|[a-z]+)-[0-9]+|[0-9a-f]{16,}`)

// named is the value at a JSON pointer, without what is new each time; without a pointer, the body.
func named(body, pointer string) string {
	value := strings.TrimSpace(body)
	if pointer != "" {
		value = gjson.Get(body, pathOf(pointer)).Raw
	}
	var plain any
	if json.Unmarshal([]byte(value), &plain) == nil {
		if _, scalar := plain.(string); !scalar { // a status that is itself named stays as it is
			plain = lasting(plain, map[string]bool{})
		}
		sorted, _ := json.Marshal(plain)
		value = string(sorted)
	}
	return cmp.Or(changing.ReplaceAllString(value, "*"), "nothing")
}

// lasting is a value without what depends on when it is read, and on what else the server holds: the status and the
// commit of a revision on its way, and how many more items of one form a list has. An item whose id the list had before
// keeps a mark: it is no other.
func lasting(value any, seen map[string]bool) any {
	switch v := value.(type) {
	case []any:
		var forms []any
		ids := map[string]bool{}
		for _, item := range v {
			form := lasting(item, ids)
			plain, _ := json.Marshal(form)
			text := changing.ReplaceAllString(string(plain), "*")
			if !slices.ContainsFunc(forms, func(f any) bool { return fmt.Sprint(f) == text }) {
				forms = append(forms, text)
			}
		}
		return forms
	case map[string]any:
		kept := map[string]any{}
		for key, inner := range v {
			kept[key] = lasting(inner, map[string]bool{})
		}
		for key, number := range v {
			for _, inner := range v {
				if items, is := inner.([]any); is && number == float64(len(items)) {
					kept[key] = "as many as there are"
				}
			}
		}
		if status, is := v["status"].(string); is && slices.Contains(spec.RevisionStatuses(), status) {
			kept["status"] = "of a revision"
		}
		if _, thread := v["thread_id"].(string); thread && v["run_id"] == nil { // of others, which may be busy
			metadata, _ := v["metadata"].(map[string]any)
			kept["status"], kept["metadata"] = "of a thread", map[string]any{"owner": metadata["owner"]}
		}
		for _, later := range []string{"repo_commit_sha", "active_revision_id"} { // null until the build has read the source, or is in service
			if id, is := v[later]; is && id == nil {
				kept[later] = "*"
			}
		}
		if id, is := v["id"].(string); is {
			kept["id again"] = seen[id]
			seen[id] = true
		}
		return kept
	}
	return value
}
