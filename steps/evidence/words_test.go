package evidence

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/spec"
)

// answered adds an exchange with the control plane. Its response has the target's words.
func answered(all []*Observation, renamed spec.Words, sent string, status int, received string) []*Observation {
	return append(all, &Observation{ID: len(all) + 1, Side: spec.ControlPlane, Status: status, Request: sent,
		Response: string(renamed.FromTarget(spec.ControlPlane, []byte(received)))})
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
			renamed := spec.Words{source: "kilnhub", field: "kiln_path"}
			words := wordsOf(renamed, answered(nil, renamed, c.sent, c.status, c.received))
			assert.Equal(t, c.unchanged, words.Unchanged())
			assert.Equal(t, c.doubtful, words.DoubtfulIn(1))
		})
	}
}

// TestAValueIsDoubtfulOnlyUntilASourceIsShown checks that an entry of vocabulary does not excuse a wrong value if the
// target had no reason to use that entry.
func TestAValueIsDoubtfulOnlyUntilASourceIsShown(t *testing.T) {
	renamed := spec.Words{"git_host": "kilnhub", "internal_container": "bundle"}
	all := answered(nil, renamed, "", 200, `{"source":"banana"}`)
	assert.Equal(t, []string{"git_host", "internal_container"}, wordsOf(renamed, all).DoubtfulIn(1))
	all = answered(all, renamed, "", 200, `{"source":"kilnhub"}`)
	assert.Empty(t, wordsOf(renamed, all).DoubtfulIn(1), "the target knows kilnhub: the value is wrong")
	assert.Empty(t, wordsOf(renamed, all).Doubtful(spec.AnySource))
	all = answered(all, renamed, "", 200, `{"source":"internal_container"}`)
	assert.Equal(t, []string{"internal_container"}, wordsOf(renamed, all).DoubtfulIn(3))
}
