package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/spec"
)

func failedMusts(r *reports.Result) (ids []string) {
	for _, q := range r.Requirements {
		if q.Level == reports.Must && q.Verdict == reports.Failed {
			ids = append(ids, q.ID)
		}
	}
	return ids
}

// TestAWrongVocabularyIsNotTheTargetsFault: the target uses the interface's words, or others than the vocabulary says.
func TestAWrongVocabularyIsNotTheTargetsFault(t *testing.T) {
	t.Parallel()
	only := []string{"CP-CREATE-*", "CP-GET-*", "CP-CONTRACT-*"}
	for name, c := range map[string]struct {
		words    map[string]string
		layer    []string
		headline string
	}{
		"a source":         {map[string]string{"git_host": "kilnhub"}, nil, `the target never showed "kilnhub": correct vocabulary.git_host`},
		"a field":          {map[string]string{"graph_config_path": "kiln_path"}, nil, `the target uses "graph_config_path" and never "kiln_path": remove or correct vocabulary.graph_config_path`},
		"another source":   {map[string]string{"git_host": "quelle"}, []string{"branded-words"}, `the target never showed "quelle": correct vocabulary.git_host`},
		"of no use at all": {map[string]string{"internal_container": "bundle", "graph_auth_user": "kiln_user"}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := startWith(t, c.layer...)
			cfg.Vocabulary = c.words
			require.NoError(t, cfg.Complete())
			r := judge(t, cfg, only...)
			assert.Empty(t, failedMusts(r))
			if c.headline == "" {
				assert.Equal(t, reports.Conformant, r.Verdict)
				return
			}
			assert.Equal(t, 3, overview.Of(r).Display().Exit)
			assert.Equal(t, c.headline, r.Headline)
		})
	}
}

// TestAFaultInOtherWords: a fault of a server with its own words fails as it does without, and is shown as it is on the wire.
func TestAFaultInOtherWords(t *testing.T) {
	t.Parallel()
	r := judge(t, startWith(t, "first-revision-shows-another-source", "branded-words"), "CP-CREATE-3")
	assert.Equal(t, []string{"CP-CREATE-3"}, failedMusts(r))
	f := findingOf(t, r, "CP-CREATE-3")
	x, err := r.Exchange(f.Exchange)
	require.NoError(t, err)
	assert.Contains(t, x.Response.Body, "kiln_bundle")
	assert.NotContains(t, x.Response.Body, spec.Unmapped)
}

// TestAnotherNameIsNoNeutralWord: a server that calls the status of a revision state does not keep the interface, and the finding
// names what it found.
func TestAnotherNameIsNoNeutralWord(t *testing.T) {
	t.Parallel()
	cfg := startWith(t)
	plane, err := url.Parse(cfg.Target)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(plane)
	proxy.ModifyResponse = func(a *http.Response) error {
		body, err := io.ReadAll(a.Body)
		body = bytes.ReplaceAll(body, []byte(`"status":`), []byte(`"state":`))
		a.Body, a.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		a.Header.Set("Content-Length", strconv.Itoa(len(body)))
		return err
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	cfg.Target = server.URL
	r := judge(t, cfg, "CP-GET-*", "CP-REV-1", "CP-CONTRACT-get-revision")
	assert.Equal(t, reports.NonConformant, r.Verdict)
	f := findingOf(t, r, "CP-CONTRACT-get-revision")
	assert.Equal(t, `the field "status"`, f.Expected)
	assert.Contains(t, f.Actual, `"state" in its place`)
}
