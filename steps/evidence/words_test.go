package evidence_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/evidence"
)

const revisionPath = "/v2/deployments/0b5e9a52-1111-4222-8333-123456789abc/revisions/0b5e9a52-1111-4222-8333-123456789abd"

// talk notes exchanges with a target: a request, and the answer to it.
type talk struct {
	t     *testing.T
	v     *spec.Vocabulary
	words *evidence.Words
	last  int
}

func newTalk(t *testing.T, words map[string]string) *talk {
	v, misuses := spec.NewVocabulary(words)
	require.Empty(t, misuses)
	return &talk{t: t, v: v, words: evidence.NewWords(v)}
}

func (k *talk) exchange(side spec.Side, method, path, query, sent string, status int, received string) {
	k.last++
	_, _, used := k.v.Request(side, method, path, query, []byte(sent))
	a := &client.Answer{Status: status, Header: http.Header{}, Received: []byte(received)}
	a.Body, a.Traces = k.v.Answer(side, method, path, status, a.Received)
	k.words.Note(k.last, used, a)
}

func TestWordsThatTheTargetUses(t *testing.T) {
	for name, c := range map[string]struct {
		word, as string
		exchange func(k *talk)
		shown    bool
		doubtful bool // in the exchange
	}{
		"shown": {"source", "origin", func(k *talk) {
			k.exchange(spec.ControlPlane, "GET", revisionPath, "", "", 200, `{"origin":"git_host"}`)
		}, true, false},
		"missing": {"source", "origin", func(k *talk) { k.exchange(spec.ControlPlane, "GET", revisionPath, "", "", 200, `{}`) }, false, true},
		"unchanged": {"source", "origin", func(k *talk) {
			k.exchange(spec.ControlPlane, "GET", revisionPath, "", "", 200, `{"source":"git_host"}`)
		}, false, true},
		"sent, though refused": {"source", "origin", func(k *talk) {
			k.exchange(spec.ControlPlane, "POST", "/v2/deployments", "", `{"source":"git_host"}`, 422, `{}`)
		}, false, true},
		"taken, and not shown": {"source", "origin", func(k *talk) {
			k.exchange(spec.ControlPlane, "POST", "/v2/deployments", "", `{"source":"git_host"}`, 201, `{"id":"x"}`)
		}, false, true},
		"taken, without a body": {"source", "origin", func(k *talk) {
			k.exchange(spec.ControlPlane, "POST", "/v2/deployments", "", `{"source":"git_host"}`, 201, ``)
		}, false, false},
		"an optional field": {"image_uri", "image", func(k *talk) {
			k.exchange(spec.ControlPlane, "GET", revisionPath, "", "", 200, `{"source_revision_config":{}}`)
		}, false, false},
		"a required one, taken": {"assistant_id", "graph", func(k *talk) {
			k.exchange(spec.AgentServer, "POST", "/threads/t/runs", "", `{"assistant_id":"x","input":{}}`, 200, `{"run_id":"x"}`)
		}, true, false},
		"a required one, refused": {"assistant_id", "graph", func(k *talk) {
			k.exchange(spec.AgentServer, "POST", "/threads/t/runs", "", `{"assistant_id":"x","input":{}}`, 422, `{"detail":"no"}`)
		}, false, true},
		"a strategy, ignored": {"rollback", "discard", func(k *talk) {
			k.exchange(spec.AgentServer, "POST", "/threads/t/runs", "", `{"assistant_id":"x","multitask_strategy":"rollback"}`, 200, `{"run_id":"x"}`)
		}, false, true},
		"a strategy, repeated": {"rollback", "discard", func(k *talk) {
			k.exchange(spec.AgentServer, "POST", "/threads/t/runs", "", `{"multitask_strategy":"rollback"}`, 200, `{"multitask_strategy":"discard"}`)
		}, true, false},
		"a parameter, ignored": {"limit", "page_size", func(k *talk) {
			k.exchange(spec.ControlPlane, "GET", revisionPath[:len(revisionPath)-37], "limit=0", "", 200, `{"resources":[]}`)
		}, false, true},
		"a parameter, named": {"limit", "page_size", func(k *talk) {
			k.exchange(spec.ControlPlane, "GET", revisionPath[:len(revisionPath)-37], "limit=0", "", 422, `{"detail":[{"loc":["query","page_size"]}]}`)
		}, true, false},
		"a parameter, misnamed": {"limit", "page_size", func(k *talk) {
			k.exchange(spec.ControlPlane, "GET", revisionPath[:len(revisionPath)-37], "limit=0", "", 422, `{"detail":[{"loc":["query","limit"]}]}`)
		}, false, true},
		"a value that is none": {"git_host", "kilnhub", func(k *talk) { k.exchange(spec.ControlPlane, "GET", revisionPath, "", "", 200, `{"source":"githost"}`) }, false, true},
		"text of a user": {"git_host", "kilnhub", func(k *talk) {
			k.exchange(spec.ControlPlane, "GET", revisionPath, "", "", 200, `{"source_revision_config":{"repo_ref":"kilnhub"}}`)
		}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			k := newTalk(t, map[string]string{c.word: c.as})
			c.exchange(k)
			assert.Equal(t, c.shown, k.words.Shown(c.word))
			assert.Equal(t, c.doubtful, len(k.words.DoubtfulIn(k.last)) > 0)
			assert.Equal(t, name == "unchanged", k.words.Unchanged(c.word))
		})
	}
}

// TestAValueIsDoubtfulOnlyIfItWasAskedFor: a wrong value is not excused by another entry that the target had no reason to use.
func TestAValueIsDoubtfulOnlyIfItWasAskedFor(t *testing.T) {
	k := newTalk(t, map[string]string{"git_host": "kilnhub", "internal_container": "bundle"})
	k.exchange(spec.ControlPlane, "POST", "/v2/deployments", "", `{"source":"git_host"}`, 201, `{"source":"banana"}`)
	assert.Equal(t, []string{"git_host"}, k.words.DoubtfulIn(k.last))
	k.exchange(spec.ControlPlane, "GET", revisionPath, "", "", 200, `{"source":"kilnhub"}`)
	k.exchange(spec.ControlPlane, "GET", revisionPath, "", "", 200, `{"source":"banana"}`)
	assert.Empty(t, k.words.DoubtfulIn(k.last), "the target knows kilnhub: the value is wrong")
	assert.Empty(t, k.words.Doubtful("git_host", "internal_container"))
	k.exchange(spec.ControlPlane, "GET", revisionPath, "", "", 200, `{"source":"internal_container"}`)
	assert.Equal(t, []string{"internal_container"}, k.words.DoubtfulIn(k.last))
}
