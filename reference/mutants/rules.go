package mutants

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reference/deviate"
	"github.com/agentconform/agentconform/spec"
)

// rule derives a mutant of each place: what it does with it, in the words of package deviate. PLACE stands for the place.
type rule struct {
	name, does string
	when, do   string
	fits       func(spec.Parameter) bool // nil: all
}

// own are the rules for members of answers that all objects share, such as the source of the deployments of a run.
var own = []rule{
	{name: "dropped", does: "is not there", do: "drop PLACE"},
	{name: "null", does: "is null", do: "null PLACE"},
	{name: "another", does: "is another value of its type", do: "another PLACE"},
	{name: "sometimes", does: "is another value in every fourth answer", when: "every 4 of all", do: "another PLACE"},
}

// constant are those for what objects do not share, refusals too.
var constant = append(slices.Clone(own), rule{name: "foreign", does: "is that of another object", do: "foreign PLACE"})

// changing are those for what an object may show otherwise later.
var changing = append(slices.Clone(constant),
	rule{name: "stale", does: "is the value before the last change", do: "stale PLACE"},
	rule{name: "late", does: "is the value before, in the first answer after a change", do: "late PLACE"},
)

// kept matches what an object keeps for ever: its ids, the source of a deployment, what a revision was built from, a message.
var kept = regexp.MustCompile(`/(.*\.)?(id|thread_id|run_id|created_at|source|type|content)$|revisions?/.*source_revision_config`)

// shared matches what the objects of a run have in common: their source, and at first the path of the graph.
var shared = regexp.MustCompile(`[/.]source$|^create-deployment/.*graph_config_path$`)

// fitting are the rules for a member of an answer of success: only a read of what may change has an older value.
func fitting(op deviate.Operation, at string) []rule {
	switch {
	case op.ID == "create-deployment" && strings.HasSuffix(at, "repo_commit_sha"): // is not known yet
		return nil
	case shared.MatchString(op.ID + "/" + at):
		return own
	}
	if op.Method != http.MethodGet || kept.MatchString(op.ID+"/"+at) {
		return constant
	}
	return changing
}

// bodyChanges are the rules for members of requests.
var bodyChanges = []rule{
	{name: "ignored", does: "is ignored", do: "drop PLACE"},
	{name: "null", does: "is taken for null", do: "null PLACE"},
	{name: "another", does: "is taken for another value of its type", do: "another PLACE"},
	{name: "foreign", does: "is taken from an earlier request", do: "foreign PLACE"},
}

// pathChanges are the rules for parameters of the path.
var pathChanges = []rule{{name: "foreign", does: "is taken from another request", do: "foreign PLACE"}}

// parameterChanges are the rules for parameters of the query: what the reference gets in place of the value.
var parameterChanges = []rule{
	{name: "ignored", does: "is ignored", do: "drop PLACE"},
	{name: "one-more", does: "counts one more", when: "PLACE is integer", do: "add PLACE 1", fits: isInteger},
	{name: "one-less", does: "counts one less", when: "PLACE is integer", do: "add PLACE -1", fits: isInteger},
	{name: "zero-is-absent", does: "is ignored if it is 0", when: "PLACE = 0", do: "drop PLACE", fits: isInteger},
	{name: "invalid-is-ignored", does: "is ignored if it is invalid", when: "not PLACE is integer", do: "drop PLACE", fits: isInteger},
	{name: "first-only", does: "is read up to its first comma", do: `up-to PLACE ","`, fits: isList},
	{name: "last-only", does: "is read from its last comma on", do: `behind-last PLACE ","`, fits: isList},
	{name: "true-is-false", does: "is turned into false where it is true", when: "PLACE = true", do: "PLACE = false", fits: isBoolean},
	{name: "false-is-true", does: "is turned into true where it is false", when: "PLACE = false", do: "PLACE = true", fits: isBoolean},
	{name: "false-is-absent", does: "is ignored where it is false", when: "PLACE = false", do: "drop PLACE", fits: isBoolean},
}

func isInteger(p spec.Parameter) bool { return p.Type == "integer" }
func isBoolean(p spec.Parameter) bool { return p.Type == "boolean" }
func isList(p spec.Parameter) bool    { return p.List }

// checks are the checks of credentials that a server may skip: which requests it then serves as somebody else's.
var checks = []struct {
	name, does string
	when       []string
}{
	{"anonymous", "serves who sends no credentials", []string{"caller without-credentials", "status matches ^40[13]$"}},
	{"unknown", "serves who sends credentials that are not valid", []string{"not caller without-credentials", "status matches ^40[13]$"}},
	{"others", "serves what belongs to somebody else", []string{"not caller without-credentials", "status matches ^40[34]$"}},
}
