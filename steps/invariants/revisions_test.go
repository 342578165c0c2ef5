package invariants

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestSpellingsOfTheSameValue(t *testing.T) {
	for _, row := range []struct {
		field, sent, shown string
		same               bool
	}{
		{"repo_ref", "main", "main", true},
		{"repo_ref", "main", "Main", false},
		{"graph_config_path", "./a/agent.json", "a/agent.json", true},
		{"graph_config_path", "a/agent.json", "b/agent.json", false},
		{"repo_commit_sha", "0a1b2c3d4e", "0a1b2c3", true},
		{"repo_commit_sha", "0a1b2c3d4e", "0a", false},
		{"image_uri", "busybox", "docker.io/library/busybox:latest", true},
		{"image_uri", "Registry.test/a:1", "https://registry.test/a:1", true},
		{"image_uri", "registry.test/a:1", "registry.test/a:2", false},
		{"image_uri", "https://user:secret@registry.test/a:1", "https://user:***@registry.test/a:1", true},
		{"image_uri", "https://user:secret@registry.test/a:1", "https://user:***@registry.test/b:1", false},
	} {
		assert.Equal(t, row.same, SameValue(row.field, row.sent, row.shown), "%s: sent %s, shown %s", row.field, row.sent, row.shown)
	}
}

func TestRevisionStaysDeployed(t *testing.T) {
	// A number stands for an update with that status.
	sees := func(all ...any) func(h *history) {
		return func(h *history) {
			for _, each := range all {
				if status, is := each.(int); is {
					h.patches(`{}`, status, `{}`)
				} else {
					h.reads(deployment+"/revisions/"+two, `{"id":"`+two+`","status":"`+each.(string)+`"}`)
				}
			}
		}
	}
	judgeEach(t, staysDeployed, func(h *history) { h.created(`{}`, two) }, map[string]row{
		"it falls back":                    {sees("DEPLOYED", "DEPLOYING"), "/status"},
		"its status is UNKNOWN":            {sees("DEPLOYED", "UNKNOWN"), ""},
		"after an update":                  {sees("DEPLOYED", 200, "SKIPPED"), "none"},
		"after an update without a result": {sees("DEPLOYED", 503, "SKIPPED"), "none"},
		"after a refused update":           {sees("DEPLOYED", 422, "DEPLOYING"), "/status"},
		"within patience": {func(h *history) {
			h.target.Config.Patience = time.Minute
			sees("DEPLOYED", "DEPLOYING")(h)
		}, "none"},
	})
}

func TestUpdateKeepsWhatItDoesNotName(t *testing.T) {
	const path = "/source_revision_config/graph_config_path"
	shows := func(h *history, id, config string) {
		h.reads(deployment+"/revisions/"+id, `{"id":"`+id+`","status":"BUILDING","source_revision_config":{"graph_config_path":"`+config+`"}}`)
	}
	namesRef := func(h *history) {
		h.patches(`{"source_revision_config":{"repo_ref":"next"}}`, 200, `{"latest_revision_id":"`+three+`"}`)
	}
	judgeEach(t, asBefore, func(h *history) {
		h.created(`{"source_revision_config":{"graph_config_path":"a.json","repo_ref":"main"}}`, two)
		shows(h, two, "a.json")
	}, map[string]row{
		"it keeps the path": {func(h *history) {
			namesRef(h)
			shows(h, three, "a.json")
		}, ""},
		"it resets the path": {func(h *history) {
			namesRef(h)
			shows(h, three, "agent.json")
		}, path},
		"it resets the path after updates that name nothing": {func(h *history) {
			h.patches(`{}`, 200, `{"latest_revision_id":"`+two+`"}`)
			h.patches(`{"name":"a"}`, 200, `{}`)
			namesRef(h)
			shows(h, three, "agent.json")
		}, path},
		"another update may have set the path": {func(h *history) {
			h.patches(`{"source_revision_config":{"graph_config_path":"agent.json"}}`, 503, `{}`)
			namesRef(h)
			shows(h, three, "agent.json")
		}, "none"},
	})
}

func TestDeploymentShowsTheSourceOfItsLatestRevision(t *testing.T) {
	const config = "/source_revision_config/"
	shows := func(config string) func(h *history) {
		return func(h *history) {
			h.reads(deployment, `{"latest_revision_id":"`+two+`","source_revision_config":`+config+`}`)
		}
	}
	withinPatience := func(config string) func(h *history) {
		return func(h *history) {
			h.at = h.at.Add(-850 * time.Millisecond) // the next response comes a second later
			shows(config)(h)
		}
	}
	judgeEach(t, asNamed, func(h *history) {
		h.created(`{"source_revision_config":{"repo_ref":"main"}}`, two)
		for _, seen := range [][2]string{{"BUILDING", "pending"}, {"DEPLOYED", "abc"}} {
			h.reads(deployment+"/revisions/"+two, `{"id":"`+two+`","status":"`+seen[0]+
				`","source_revision_config":{"repo_ref":"main","repo_commit_sha":"`+seen[1]+`"}}`)
		}
	}, map[string]row{
		"without the commit":                 {shows(`{"repo_ref":"main"}`), ""},
		"null as commit":                     {shows(`{"repo_ref":"main","repo_commit_sha":null}`), config + "repo_commit_sha"},
		"null as commit, within patience":    {withinPatience(`{"repo_ref":"main","repo_commit_sha":null}`), ""},
		"another commit":                     {shows(`{"repo_ref":"main","repo_commit_sha":"def"}`), config + "repo_commit_sha"},
		"null for a field that was not sent": {shows(`{"repo_ref":"main","image_uri":null}`), ""},
	})
}

func TestReadsOfARevisionShowWhatWasSent(t *testing.T) {
	const (
		create  = `{"source":"git_host","source_revision_config":{"repo_ref":"main","graph_config_path":"./agent.json"}}`
		toNext  = `{"source_revision_config":{"repo_ref":"next"}}`
		patched = `{"id":"` + one + `","latest_revision_id":"` + three + `"}`
		config  = "/source_revision_config/"
	)
	revision := func(id, ref, file string) string {
		return `{"id":"` + id + `","status":"DEPLOYED","source_revision_config":{"repo_ref":"` + ref + `","graph_config_path":` + file + `}}`
	}
	withCommit := func(commit string) string {
		return strings.Replace(revision(two, "main", `"agent.json"`), `"repo_ref"`, `"repo_commit_sha":"`+commit+`","repo_ref"`, 1)
	}
	get := func(h *history, id, row string) { h.reads(deployment+"/revisions/"+id, row) }
	list := func(h *history, row string) { h.reads(deployment+"/revisions", `{"resources":[`+row+`],"offset":0}`) }
	judgeEach(t, asSent, func(h *history) { h.created(create, two) }, map[string]row{
		"what was sent, in its shortest form": {func(h *history) { get(h, two, revision(two, "main", `"agent.json"`)) }, ""},
		"in a list":                           {func(h *history) { list(h, revision(two, "next", `"agent.json"`)) }, "/resources/*" + config + "repo_ref"},
		"in a list that shows ids in capitals": {func(h *history) {
			const id = "aaaaaaaa-4444-4444-8444-444444444444"
			h.created(create, id)
			list(h, revision(strings.ToUpper(id), "next", `"agent.json"`))
		}, "/resources/*" + config + "repo_ref"},
		"another commit in a list": {func(h *history) { get(h, two, withCommit("0a1b2c3d4e")); list(h, withCommit("ffffffffff")) },
			"/resources/*" + config + "repo_commit_sha"},
		"the commit, shortened, or not known yet": {func(h *history) {
			for _, commit := range []string{"pending", "0a1b2c3d4e", "0A1B2C3", "pending"} {
				list(h, withCommit(commit))
			}
		}, ""},
		"what was not sent appears later": {func(h *history) {
			h.patches(toNext, 200, patched)
			get(h, three, revision(three, "next", `null`))
			get(h, three, revision(three, "next", `"agent.json"`))
		}, ""},
		"what was not sent changes": {func(h *history) {
			h.patches(toNext, 200, patched)
			get(h, three, revision(three, "next", `"agent.json"`))
			get(h, three, revision(three, "next", `"other.json"`))
		}, config + "graph_config_path"},
		"what was not sent changes with the build": {func(h *history) {
			h.patches(toNext, 200, patched)
			get(h, three, strings.Replace(revision(three, "next", `"pending"`), "DEPLOYED", "BUILDING", 1))
			get(h, three, revision(three, "next", `"agent.json"`))
		}, ""},
		"of an update": {func(h *history) {
			h.patches(toNext, 200, patched)
			get(h, three, revision(three, "main", `"agent.json"`))
		}, config + "repo_ref"},
		"of an update that names an earlier revision": {func(h *history) {
			h.patches(toNext, 200, `{"latest_revision_id":"`+two+`"}`)
			get(h, two, revision(two, "main", `"agent.json"`))
		}, ""},
		"of an update during one without a result": {func(h *history) {
			h.patches(`{"source_revision_config":{"repo_ref":"other"}}`, 504, ``)
			h.patches(toNext, 200, patched)
			get(h, three, revision(three, "other", `"agent.json"`))
		}, "none"},
	})
}
