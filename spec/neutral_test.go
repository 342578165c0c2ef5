package spec

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNeutralWordsAreThoseOfTheDocuments(t *testing.T) {
	var listed []string
	for _, side := range Sides() {
		for _, found := range regexp.MustCompile(`x-neutral: \[(.*)\]`).FindAllSubmatch(Document(side), -1) {
			listed = append(listed, strings.Split(string(found[1]), ", ")...)
		}
	}
	assert.ElementsMatch(t, listed, Neutral())
}

var vendor = Words{"git_host": "kilnhub", "graph_config_path": "kiln \"config\""}

func toOurs(body string) []byte { return vendor.FromTarget(ControlPlane, []byte(body)) }

// TestOnlyNeutralWordsAreTranslated checks that all other bytes are kept, also a user's text that equals a neutral word.
func TestOnlyNeutralWordsAreTranslated(t *testing.T) {
	for name, c := range map[string]struct{ ours, theirs string }{
		"a deployment": {
			`{"name":"git_host","source":"git_host","source_config":{"source":"git_host"},"source_revision_config":{"repo_ref":"git_host","graph_config_path":"graph_config_path"}}`,
			`{"name":"git_host","source":"kilnhub","source_config":{"source":"git_host"},"source_revision_config":{"repo_ref":"git_host","kiln \"config\"":"graph_config_path"}}`,
		},
		"a list": {
			`{"resources":[{"source":"git_host"},"git_host",{"source_revision_config":{"graph_config_path":null}}],"offset":0}`,
			`{"resources":[{"source":"kilnhub"},"git_host",{"source_revision_config":{"kiln \"config\"":null}}],"offset":0}`,
		},
		"space, numbers, the same key twice": {
			" {\t\"source\" : \"git_host\",\n\"n\":1.50e+02,\"n\":2 ,\"source\":\"git_host\"}\r\n",
			" {\t\"source\" : \"kilnhub\",\n\"n\":1.50e+02,\"n\":2 ,\"source\":\"kilnhub\"}\r\n",
		},
		"other types":    {`{"source":["git_host"],"source_revision_config":"git_host","resources":{"source":"git_host"}}`, ""},
		"no JSON":        {`{"source":"git_host",`, ""},
		"trailing bytes": {`{"source":"git_host"} x`, ""},
		"nothing":        {``, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if c.theirs == "" {
				c.theirs = c.ours
			}
			assert.Equal(t, c.theirs, string(vendor.ToTarget(ControlPlane, []byte(c.ours))))
			assert.Equal(t, c.ours, string(toOurs(c.theirs)))
			assert.Equal(t, c.ours, string(vendor.ToTarget(AgentServer, []byte(c.ours))))
			assert.Equal(t, c.ours, string(Words(nil).ToTarget(ControlPlane, []byte(c.ours))))
		})
	}
	assert.Equal(t, `{"s\u006furce":"git_host"}`, string(toOurs(`{"s\u006furce":"kiln\u0068ub"}`)), "escaped")
	assert.Equal(t, `{"source":"unmapped git_host"}`, string(toOurs(`{"source":"git_host"}`)), "the interface's word, which the target is said not to use")
	swapped := Words{"git_host": "external_container", "external_container": "git_host"}
	assert.Equal(t, `{"source":"git_host"}`, string(swapped.FromTarget(ControlPlane, []byte(`{"source":"external_container"}`))))
}
