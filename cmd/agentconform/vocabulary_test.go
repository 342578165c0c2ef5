package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

// judgeWords judges the reference with layers. vocabulary nil keeps that of the layers.
func judgeWords(t *testing.T, vocabulary map[string]string, only []string, names ...string) *reports.Result {
	t.Helper()
	cfg := startWith(t, false, names...)
	if vocabulary != nil {
		cfg.Vocabulary = vocabulary
	}
	cfg.Polling = config.Polling{Interval: 5 * time.Millisecond, MaxInterval: 100 * time.Millisecond}
	cfg.Timeouts = config.Timeouts{Request: 4 * time.Second, Poll: 8 * time.Second, Run: 6 * time.Second}
	require.NoError(t, cfg.Complete())
	return run(t, cfg, func(o *steps.Options) { o.ID, o.Select.Only = "words", only })
}

func failedMusts(r *reports.Result) (ids []string) {
	for _, q := range r.Requirements {
		if q.Level == reports.Must && q.Verdict == reports.Failed {
			ids = append(ids, q.ID)
		}
	}
	return ids
}

// TestWordsOfAVendor judges servers with names of their own, with the key vocabulary and without.
func TestWordsOfAVendor(t *testing.T) {
	t.Parallel()
	only := []string{"CP-CREATE-*", "CP-GET-*", "CP-LIST-1", "CP-LIST-9", "AS-THREAD-*", "AS-ROLLBACK-1", "AS-STATE-1"}
	for name, first := range map[string]string{
		"source-is-origin":   "conformant with 1 renamed field (partial run): source as origin; ",
		"many-renamed-names": "conformant with 20 renamed fields and 3 renamed values (partial run): DEPLOYED as LIVE, ",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := judgeWords(t, nil, only, name)
			assert.Equal(t, reports.Conformant, r.Verdict, "%v", failedMusts(r))
			assert.True(t, strings.HasPrefix(overview.FirstLine(r), first), overview.FirstLine(r))
		})
		t.Run(name+" without vocabulary", func(t *testing.T) {
			t.Parallel()
			r := judgeWords(t, map[string]string{}, only, name)
			assert.Equal(t, reports.NonConformant, r.Verdict)
			assert.Empty(t, r.Renamed)
		})
	}
}

// TestAWrongVocabularyIsNotTheTargetsFault: the reference uses the interface's names, or others than the vocabulary
// says.
func TestAWrongVocabularyIsNotTheTargetsFault(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		words     map[string]string
		layer     []string
		only      []string
		headline  string
		unchanged bool
	}{
		"a field that is required":       {map[string]string{"source": "origin"}, nil, []string{"CP-CREATE-*", "CP-GET-*"}, `the target never showed "origin": correct vocabulary.source`, false},
		"a field that only answers have": {map[string]string{"repo_commit_sha": "sha"}, nil, []string{"CP-GET-*"}, `the target uses "repo_commit_sha" and never "sha": remove or correct vocabulary.repo_commit_sha`, true},
		"a list":                         {map[string]string{"resources": "items"}, nil, []string{"CP-LIST-1", "CP-CONTRACT-*"}, `the target uses "resources" and never "items": remove or correct vocabulary.resources`, true},
		"a value":                        {map[string]string{"git_host": "kilnhub"}, nil, []string{"CP-CREATE-*", "CP-GET-*"}, `the target never showed "kilnhub": correct vocabulary.git_host`, false},
		"a status":                       {map[string]string{"DEPLOYED": "LIVE"}, nil, []string{"CP-POLL-1", "CP-CONTRACT-*", "CP-LIST-1"}, `the target uses "DEPLOYED" and never "LIVE": remove or correct vocabulary.DEPLOYED`, true},
		"a parameter":                    {map[string]string{"limit": "page_size"}, nil, []string{"CP-LIST-1", "CP-LIST-3"}, `the target never showed "page_size": correct vocabulary.limit`, false},
		"what starts a run":              {map[string]string{"assistant_id": "graph"}, nil, []string{"AS-RUN-1"}, `the target never showed "graph": correct vocabulary.assistant_id`, false},
		"a strategy":                     {map[string]string{"rollback": "discard"}, nil, []string{"AS-ROLLBACK-1"}, `the target never showed "discard": correct vocabulary.rollback`, false},
		"another name than the vendor's": {map[string]string{"source": "quelle"}, []string{"source-is-origin"}, []string{"CP-CREATE-*", "CP-GET-*"}, `the target never showed "quelle": correct vocabulary.source`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := judgeWords(t, c.words, c.only, c.layer...)
			assert.Empty(t, failedMusts(r))
			assert.Equal(t, reports.Incomplete, r.Verdict)
			assert.Equal(t, 3, overview.DisplayVerdictOf(r).Exit)
			assert.Equal(t, c.headline, r.Headline)
			for _, w := range r.UnusedWords {
				assert.Equal(t, c.unchanged, w.Unchanged, w.Name)
			}
		})
	}
}

// TestAnEntryThatIsNeverUsed is told, and changes no verdict: a target need not show every source.
func TestAnEntryThatIsNeverUsed(t *testing.T) {
	t.Parallel()
	r := judgeWords(t, map[string]string{"internal_container": "bundle", "graph_auth_user": "kiln_user"}, []string{"CP-GET-*", "CP-CONTRACT-get-deployment"})
	assert.Equal(t, reports.Conformant, r.Verdict)
	assert.Equal(t, []reports.UnusedWord{{Name: "internal_container", As: "bundle"}}, r.UnusedWords)
	assert.Empty(t, r.Renamed)
	assert.Equal(t, "never used by the target: internal_container as bundle", overview.Vocabulary(r))
}

// TestAFaultInOtherWords: a fault of a server with names of its own fails as it does without, and is shown as it is on
// the wire.
func TestAFaultInOtherWords(t *testing.T) {
	t.Parallel()
	for fault, c := range map[string]struct{ fails, pointer, shows string }{
		"listed-updated-at-is-a-number":       {"CP-CONTRACT-list-revisions", "/items/0/updated_at", `"items"`},
		"status-is-ignored":                   {"CP-LIST-9", "", "state="},
		"begins-as-pending":                   {"CP-POLL-1", "/state", `"state"`},
		"first-revision-shows-another-source": {"CP-CREATE-3", "/origin", `"origin"`},
		"rolled-back-messages-stay":           {"AS-ROLLBACK-3", "", `"entries"`},
		"limit-101-is-served":                 {"CP-LIST-3", "", "page_size=101"},
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			only := []string{c.fails}
			switch c.fails { // what other requirements show
			case "CP-LIST-9":
				only = []string{"CP-LIST-*"}
			case "CP-CONTRACT-list-revisions":
				only = append(only, "CP-LIST-1")
			}
			r := judgeWords(t, nil, only, fault, "many-renamed-names")
			assert.Equal(t, reports.NonConformant, r.Verdict)
			require.Contains(t, failedMusts(r), c.fails)
			f := findingOf(t, r, c.fails)
			if c.pointer != "" {
				assert.Equal(t, c.pointer, f.Pointer)
			}
			x, err := r.Exchanges.Get(f.Exchange)
			require.NoError(t, err)
			assert.Contains(t, x.URL+x.Response.Body, c.shows)
			assert.NotContains(t, x.Response.Body, spec.Unmapped)
		})
	}
}
