package mutants

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/agentconform/agentconform/reference/deviate"
	"github.com/agentconform/agentconform/spec"
)

// rule derives a mutant of each place: what it does with it, in the words of package deviate. PLACE stands for the place.
type rule struct {
	name, does string
	when, do   string
	fits       func(spec.Parameter) bool
}

// changes are the rules for members of answers, and to which of them each applies.
var changes = []struct {
	name, does, do string
	fits           func(op deviate.Operation, success bool, at string) bool
}{
	{"dropped", "is not there", "drop PLACE", always},
	{"null", "is null", "null PLACE", always},
	{"another", "is another value of its type", "another PLACE", always},
	{"sometimes", "is another value of its type in every fourth answer", "sometimes PLACE", always},
	{"foreign", "is that of another object", "foreign PLACE", differs},
	{"stale", "is the value before the last change", "stale PLACE", mayChange},
	{"late", "is the value before, in the first answer after a change", "late PLACE", mayChange},
}

func always(deviate.Operation, bool, string) bool { return true }

// differs tells whether two objects may differ in a member. All deployments of a run have one source.
func differs(_ deviate.Operation, _ bool, at string) bool { return !strings.HasSuffix(at, "source") }

// mayChange tells whether an object may show one value of a member and later another: a read of it, and not of what it keeps for ever,
// such as its id, the source of a deployment, what a revision was built from, or a message.
func mayChange(op deviate.Operation, success bool, at string) bool {
	ofRevision := strings.HasSuffix(op.ID, "-revision") || strings.HasSuffix(op.ID, "-revisions")
	return success && op.Method == http.MethodGet && !kept.MatchString(at) && !(ofRevision && strings.Contains(at, "source_revision_config"))
}

// kept are the members that an object keeps.
var kept = regexp.MustCompile(`(^|\.)(id|thread_id|run_id|created_at|source|type|content)$`)

// bodyChanges are the rules for members of requests.
var bodyChanges = []rule{
	{name: "ignored", does: "is ignored", do: "drop PLACE"},
	{name: "null", does: "is taken for null", do: "null PLACE"},
	{name: "another", does: "is taken for another value of its type", do: "another PLACE"},
	{name: "foreign", does: "is taken from an earlier request", do: "foreign PLACE"},
}

// parameterChanges are the rules for parameters of the query: what the reference gets in place of the value.
var parameterChanges = []rule{
	{name: "ignored", does: "is ignored", do: "drop PLACE", fits: func(spec.Parameter) bool { return true }},
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
