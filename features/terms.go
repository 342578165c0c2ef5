package features

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Terms are what a scenario needs and what it does at the target, by the tags of its feature, its rule, itself and its
// examples:
//
//	@needs:KEY|KEY          one of these keys of the configuration; KEY=true must be true, create.body.source=VALUE be that
//	@anonymous              no valid credentials are needed
//	@shares:NAME            what scenarios share, see [Shared]
//	@reads, @reads:N        of the shared deployments so many that were there before the run will do; 0: an unknown id
//	@reads:revisions=N      one with so many revisions will do
//	@reads:settled=N        one whose revisions have settled, in so many statuses, will do
//	@creates:N/M            so many deployments, and revisions beside the first of each, for itself alone
//	@writes                 it sends a POST, PATCH or DELETE, also one that must be refused, or judges the answers to these; not needed
//	                        with @creates, or with a shared deployment and no @reads
//	@record                 it judges what the run has recorded, and sends nothing itself
//
// They may also carry @after:ID, see [Scenario].After. What only the target can show is no matter of tags, and
// neither is whether a credential can have a certain mistake, or commits has the ref: the run finds that out.
type Terms struct {
	Needs                  [][]string
	Anonymous              bool
	Shares                 []string
	Reads                  *Reads // nil: none that was there before will do
	Deployments, Revisions int    // that it creates for itself, at most
	Writes                 bool
	Record                 bool
}

// Reads is what deployments that were there before a run must have for scenarios that only read them.
type Reads struct{ Deployments, Revisions, Settled int }

// Shared are what scenarios share: a deployment that nobody changes, another one, one that scenarios change in turn,
// one that was updated to another source, one with more than 20 revisions, and the agent server.
var Shared = []string{"deployment", "another", "changing", "updated", "history", AgentServer}

// keys are one or several, each with a value where it must have one.
var keys = regexp.MustCompile(`^((create\.body\.source=[^|]+|[^=|]+(=true)?)(\||$))+$`)

// Creates tells whether a scenario creates deployments or revisions for itself.
func (t Terms) Creates() bool { return t.Deployments+t.Revisions > 0 }

var numbers = regexp.MustCompile(`^(?:(revisions|settled)=)?(\d+)(?:/(\d+))?$`)

// take reads a tag. It tells whether the tag is one of terms.
func (t *Terms) take(tag string) (known bool, err error) {
	name, value, valued := strings.Cut(tag, ":")
	n := numbers.FindStringSubmatch(value)
	switch wrong := fmt.Errorf("tag %s: its value is missing, too much or unknown; see features.Terms", tag); {
	case name == "@needs" && keys.MatchString(value):
		t.Needs = append(t.Needs, strings.Split(value, "|"))
	case name == "@shares" && slices.Contains(Shared, value):
		t.Shares = append(t.Shares, value)
	case tag == "@reads":
		t.reads().Deployments = 1
	case name == "@reads" && n != nil && n[3] == "":
		of := t.reads()
		number := map[string]*int{"": &of.Deployments, "revisions": &of.Revisions, "settled": &of.Settled}[n[1]]
		*number, _ = strconv.Atoi(n[2]) // digits
	case name == "@creates" && n != nil && n[1] == "":
		t.Deployments, _ = strconv.Atoi(n[2])
		t.Revisions, _ = strconv.Atoi(n[3]) // 0 where it is missing
	case slices.Contains([]string{"@needs", "@shares", "@reads", "@creates"}, name):
		return true, wrong
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

// needs are the keys that all scenarios of a requirement need beyond those with which a deployment is created, for
// people.
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

// need tells whether the terms hold a need, or one that includes it: users.1 includes users.
func (t Terms) need(key string) bool {
	return slices.ContainsFunc(t.Needs, func(have []string) bool {
		return strings.Join(have, " or ") == key || key == "users" && strings.HasPrefix(have[0], "users.")
	})
}
