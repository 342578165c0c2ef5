package mutants

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reference/deviate"
	"github.com/agentconform/agentconform/spec"
)

// rule derives a mutant from a place. when and do are texts of package deviate, in which PLACE stands for the place.
type rule struct {
	name, does string
	when, do   string
	fits       func(spec.Parameter) bool // nil means all parameters
}

// common are the rules for members of responses that have the same value in all objects, such as the source of the
// deployments of a test run.
var common = []rule{
	{name: "dropped", does: "is missing", do: "drop PLACE"},
	{name: "null", does: "is null", do: "null PLACE"},
	{name: "another", does: "is another value of its type", do: "another PLACE"},
	{name: "sometimes", does: "is another value in every fourth response", when: "every 4 of all", do: "another PLACE"},
}

// constant are the rules for members of responses that differ between objects but never change.
var constant = append(slices.Clone(common), rule{name: "foreign", does: "is that of another object", do: "foreign PLACE"})

// changing are the rules for members of responses that change.
var changing = append(slices.Clone(constant),
	rule{name: "stale", does: "is the value before the last change", do: "stale PLACE"},
	rule{name: "late", does: "is the previous value in the first response after a change", do: "late PLACE"},
)

// kept matches members that never change: IDs, the source of a deployment, the build of a revision, a message.
var kept = regexp.MustCompile(`/(.*\.)?(id|thread_id|run_id|created_at|source|type|content)$|revisions?/.*source_revision_config`)

// shared matches members that have the same value in all objects of a test run: their source, and initially the path of
// the graph.
var shared = regexp.MustCompile(`[/.]source$|^create-deployment/.*graph_config_path$`)

// fitting returns the rules for a member of a successful response.
func fitting(op deviate.Operation, at string) []rule {
	name := op.ID + "/" + at
	switch {
	case op.ID == "create-deployment" && strings.HasSuffix(at, "repo_commit_sha"): // the server does not know it yet
		return nil
	case shared.MatchString(name):
		return common
	case op.Method != http.MethodGet, kept.MatchString(name):
		return constant
	}
	return changing
}

// bodyChanges are the rules for members of requests.
var bodyChanges = []rule{
	{name: "ignored", does: "is ignored", do: "drop PLACE"},
	{name: "null", does: "is read as null", do: "null PLACE"},
	{name: "another", does: "is read as another value of its type", do: "another PLACE"},
	{name: "foreign", does: "is taken from an earlier request", do: "foreign PLACE"},
}

// pathChanges are the rules for parameters of the path.
var pathChanges = []rule{{name: "foreign", does: "is taken from another request", do: "foreign PLACE"}}

// parameterChanges are the rules for parameters of the query.
var parameterChanges = []rule{
	{name: "ignored", does: "is ignored", do: "drop PLACE"},
	{name: "one-more", does: "is one more", when: "PLACE is integer", do: "add PLACE 1", fits: isInteger},
	{name: "one-less", does: "is one less", when: "PLACE is integer", do: "add PLACE -1", fits: isInteger},
	{name: "zero-is-absent", does: "is ignored if it is 0", when: "PLACE = 0", do: "drop PLACE", fits: isInteger},
	{name: "invalid-is-ignored", does: "is ignored if it is invalid", when: "not PLACE is integer", do: "drop PLACE", fits: isInteger},
	{name: "first-only", does: "is read up to its first comma", do: `up-to PLACE ","`, fits: isList},
	{name: "last-only", does: "is read after its last comma", do: `behind-last PLACE ","`, fits: isList},
	{name: "true-is-false", does: "is read as false if it is true", when: "PLACE = true", do: "PLACE = false", fits: isBoolean},
	{name: "false-is-true", does: "is read as true if it is false", when: "PLACE = false", do: "PLACE = true", fits: isBoolean},
	{name: "false-is-absent", does: "is ignored if it is false", when: "PLACE = false", do: "drop PLACE", fits: isBoolean},
}

func isInteger(p spec.Parameter) bool { return p.Type == "integer" }
func isBoolean(p spec.Parameter) bool { return p.Type == "boolean" }
func isList(p spec.Parameter) bool    { return p.List }

// checks are the checks of credentials that a mutant skips. It serves these requests with the credentials of the owner.
var checks = []struct {
	name, does string
	when       []string
}{
	{"anonymous", "serves clients without credentials", []string{"caller without-credentials", "status matches ^40[13]$"}},
	{"unknown", "serves clients with invalid credentials", []string{"not caller without-credentials", "status matches ^40[13]$"}},
	{"others", "serves objects of other users", []string{"not caller without-credentials", "status matches ^40[34]$"}},
}
