package evidence_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/evidence"
)

// talk notes exchanges with a target: a request, and the answer to it.
type talk struct {
	renamed spec.Words
	words   *evidence.Words
	last    int
}

func newTalk(renamed spec.Words) *talk {
	return &talk{renamed: renamed, words: evidence.NewWords(renamed)}
}

func (k *talk) exchange(sent string, status int, received string) {
	k.last++
	a := &client.Answer{Status: status, Header: http.Header{}, Body: k.renamed.FromTarget(spec.ControlPlane, []byte(received))}
	k.words.Note(k.last, client.Request{Side: spec.ControlPlane, Body: []byte(sent)}, a)
}

func TestWordsThatTheTargetUses(t *testing.T) {
	const create, source, field = `{"source":"git_host","source_revision_config":{"graph_config_path":"x"}}`, "git_host", "graph_config_path"
	for name, c := range map[string]struct {
		sent      string
		status    int
		received  string
		unchanged []string
		doubtful  []string // in the exchange
	}{
		"shown":                {"", 200, `{"source":"kilnhub","source_revision_config":{"kiln_path":"x"}}`, nil, nil},
		"unchanged":            {"", 200, `{"source":"git_host","source_revision_config":{"graph_config_path":"x"}}`, []string{source, field}, []string{source, field}},
		"a value that is none": {"", 200, `{"source":"githost"}`, nil, []string{source}},
		"a field is absent":    {"", 200, `{"source":"kilnhub","source_revision_config":{}}`, nil, []string{field}},
		"in a list":            {"", 200, `{"resources":[{"source":"git_host"}]}`, []string{source}, []string{source}},
		"sent, though refused": {create, 422, `{}`, nil, []string{source, field}},
		"sent and served":      {create, 201, `{"id":"x"}`, nil, nil},
		"without a body":       {create, 201, ``, nil, nil},
		"text of a user":       {"", 200, `{"source_revision_config":{"repo_ref":"git_host","kiln_path":null}}`, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			k := newTalk(spec.Words{source: "kilnhub", field: "kiln_path"})
			k.exchange(c.sent, c.status, c.received)
			assert.Equal(t, c.unchanged, k.words.Unchanged())
			assert.Equal(t, c.doubtful, k.words.DoubtfulIn(k.last))
		})
	}
}

// TestAValueIsDoubtfulOnlyUntilASourceIsShown: a wrong value is not excused by another entry that the target had no
// reason to use.
func TestAValueIsDoubtfulOnlyUntilASourceIsShown(t *testing.T) {
	k := newTalk(spec.Words{"git_host": "kilnhub", "internal_container": "bundle"})
	k.exchange("", 200, `{"source":"banana"}`)
	assert.Equal(t, []string{"git_host", "internal_container"}, k.words.DoubtfulIn(k.last))
	k.exchange("", 200, `{"source":"kilnhub"}`)
	k.exchange("", 200, `{"source":"banana"}`)
	assert.Empty(t, k.words.DoubtfulIn(k.last), "the target knows kilnhub: the value is wrong")
	assert.Empty(t, k.words.Doubtful(spec.AnySource))
	k.exchange("", 200, `{"source":"internal_container"}`)
	assert.Equal(t, []string{"internal_container"}, k.words.DoubtfulIn(k.last))
}
