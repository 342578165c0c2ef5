package features

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agentconform/agentconform/spec/spelling"
)

// Terms declare what a scenario needs and does at the target. They come from the tags of the feature, the rule, the
// scenario and its examples:
//
//	@needs:KEY|KEY          needs one of these keys of the configuration; KEY=true must be true, create.body.source=VALUE
//	                        must have that value
//	@anonymous              needs no valid credentials
//	@shares:NAME            uses a shared deployment or agent server, see [Shared]
//	@reads, @reads:N        1 or N existing deployments can replace the shared ones; with 0 an unknown id can
//	@reads:revisions=N      an existing deployment with N revisions can replace the shared one
//	@reads:settled=N        an existing deployment with settled revisions, in N statuses, can replace the shared one
//	@creates:N/M            creates N deployments that no other scenario uses, and M revisions in addition to the first of each
//	@writes                 sends a POST, PATCH or DELETE, even one that must be refused, or judges the responses to these; not
//	                        needed with @creates, or with a shared deployment and no @reads
//	@record                 judges what the test run has recorded, and sends nothing
//
// The tag @after:ID is described at [Scenario]. Conditions that only the test run can check have no tags: what the target
// supports, whether a credential can have a certain mistake, or whether commits has the ref.
type Terms struct {
	Needs                  [][]string
	Anonymous              bool
	Shares                 []string
	Reads                  *Reads // nil if no existing deployment can be used
	Deployments, Revisions int    // maximum number for this scenario only
	Writes                 bool
	Record                 bool
}

// Reads has the properties that existing deployments must have for scenarios that only read them.
type Reads struct{ Deployments, Revisions, Settled int }

// Shared has the names of the objects that scenarios share: a deployment that nobody changes, another one, a few that
// scenarios change one after the other, one that was updated to another source, one with more than 20 revisions, those to
// which the events of package situations happen, and the agent server.
var Shared = []string{"deployment", "another", "changing", "updated", "history", "situations", AgentServer}

// keys matches one or more keys, each with an optional required value.
var keys = regexp.MustCompile(`^((create\.body\.source=[^|]+|[^=|]+(=true)?)(\||$))+$`)

// Creates reports whether a scenario creates deployments or revisions that no other scenario uses.
func (t Terms) Creates() bool { return t.Deployments+t.Revisions > 0 }

var numbers = regexp.MustCompile(`^(?:(revisions|settled)=)?(\d+)(?:/(\d+))?$`)

// take adds a tag. It reports whether the tag is one of the tags of terms.
func (t *Terms) take(tag string) (known bool, err error) {
	name, value, valued := strings.Cut(tag, ":")
	n := numbers.FindStringSubmatch(value)
	switch {
	case name == "@needs" && keys.MatchString(value):
		t.Needs = append(t.Needs, strings.Split(value, "|"))
	case name == "@shares" && slices.Contains(Shared, value):
		t.Shares = append(t.Shares, value)
	case tag == "@reads":
		t.reads().Deployments = 1
	case name == "@reads" && n != nil && n[3] == "":
		number, _ := strconv.Atoi(n[2]) // digits
		switch n[1] {
		case "revisions":
			t.reads().Revisions = number
		case "settled":
			t.reads().Settled = number
		default:
			t.reads().Deployments = number
		}
	case name == "@creates" && n != nil && n[1] == "":
		t.Deployments, _ = strconv.Atoi(n[2])
		t.Revisions, _ = strconv.Atoi(n[3]) // 0 if missing
	case name == "@shares":
		return true, fmt.Errorf("tag %s: %sgive one of %s", tag, spelling.DidYouMean(spelling.Nearest(value, Shared)),
			spelling.Either(Shared))
	case slices.Contains([]string{"@needs", "@reads", "@creates"}, name):
		return true, fmt.Errorf("tag %s: the value is missing, unknown or not allowed; see features.Terms", tag)
	case valued:
		return false, nil
	case tag == "@anonymous":
		t.Anonymous = true
	case tag == "@writes":
		t.Writes = true
	case tag == "@record":
		t.Record = true
	default:
		return false, nil
	}
	return true, nil
}

func (t *Terms) reads() *Reads {
	if t.Reads == nil {
		t.Reads = &Reads{}
	}
	return t.Reads
}

// needs returns, in words, the keys that all scenarios of a requirement need in addition to those that create a
// deployment.
func (r *Requirement) needs() string {
	var keys []string
	for _, need := range append(slices.Clip(r.Scenarios[0].Terms.Needs), []string{"users"}) {
		key := strings.Join(need, " or ")
		isSpared := func(s *Scenario) bool { return !s.Terms.need(key) }
		if key != "create.body" && !slices.Contains(keys, key) && !slices.ContainsFunc(r.Scenarios, isSpared) {
			keys = append(keys, key)
		}
	}
	if at := slices.Index(keys, "users.1"); at >= 0 {
		keys[at] = "two users"
		keys = slices.DeleteFunc(keys, func(key string) bool { return key == "users" })
	}
	return strings.ReplaceAll(strings.Join(keys, " and "), "create.body.source=", "a create.body with the source ")
}

// need reports whether the terms have a need, or another need that includes it: users.1 includes users.
func (t Terms) need(key string) bool {
	return slices.ContainsFunc(t.Needs, func(have []string) bool {
		return strings.Join(have, " or ") == key || key == "users" && strings.HasPrefix(have[0], "users.")
	})
}
