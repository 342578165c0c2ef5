package invariants

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/plane"
)

// sourceConfig is the object that holds the fields of a source; its fields are those that a request sets.
const (
	sourceConfig = "source_revision_config"
	commit       = "repo_commit_sha" // the server's own
)

var (
	fieldsSet = []string{"repo_ref", "graph_config_path", "image_uri"}
	fieldsAll = append(slices.Clone(fieldsSet), commit)
)

// revisions is what the requests of a run have set for its revisions, and what reads of them have shown.
type revisions struct {
	byID     map[string]*revision
	updates  map[string][]*write // by deployment
	served   map[string]bool     // fields with values of revisions that were DEPLOYED: "repo_ref main"
	patience time.Duration       // for which a read may show what was before
}

// revision is what is known of one.
type revision struct {
	named, settled, deployed time.Time // when an answer first named it, showed a final status, or DEPLOYED; else zero

	by    *write            // the first request whose answer has named it as its own; see sure
	shown map[string][]read // by field, each value once
}

// write is a request that may have created a revision.
type write struct {
	sent, ended time.Time // ended is zero where nobody knows whether it is done
	deployment  string
	patch       bool
	status      int
	revision    string
	fields      map[string]string
}

// read is the value of a field in an answer, "" where it is null, empty or absent: either may become a value when the
// revision is built.
type read struct {
	revision string
	field    string
	value    string
	settled  bool // shown with a final status of the revision, so that it does not change any more
	exchange int
}

// String is the value for people.
func (v read) String() string {
	if v.value == "" {
		return "null or empty"
	}
	return fmt.Sprintf("%q", v.value)
}

func newRevisions(patience time.Duration) *revisions {
	return &revisions{
		byID:     map[string]*revision{},
		updates:  map[string][]*write{},
		served:   map[string]bool{},
		patience: patience,
	}
}

// of is what is known of a revision.
func (r *revisions) of(id string) *revision {
	if r.byID[id] == nil {
		r.byID[id] = &revision{shown: map[string][]read{}}
	}
	return r.byID[id]
}

func (r *revisions) note(s *seen) {
	u := &write{sent: s.Sent, ended: s.Ended, status: s.Status, fields: setBy(s),
		revision: s.answer.Get("latest_revision_id").Str}
	switch s.Op.ID {
	case "create-deployment":
		u.deployment = s.answer.Get("id").Str
		r.creates(s, u)
	case "update-deployment":
		u.deployment, u.patch = s.In("deployment_id"), true
		if s.Status == 0 || s.Status >= 500 {
			u.ended = time.Time{}
		}
		if s.Status/100 != 4 {
			r.updates[u.deployment] = append(r.updates[u.deployment], u)
		}
		if len(u.fields) > 0 {
			r.creates(s, u)
		}
	}
	if s.ok() {
		first(&r.of(u.revision).named, s.Ended)
		for id, revision := range shownIn(s) {
			of := r.of(id)
			first(&of.named, s.Ended)
			if isSettled(revision) {
				first(&of.settled, s.Ended)
			}
			isDeployed := plane.IsDeployed(revision.Get("status").Str)
			if isDeployed {
				first(&of.deployed, s.Ended)
			}
			for _, v := range readsOf(id, revision, s.ID) {
				of.shows(v)
				if isDeployed && v.value != "" {
					r.served[v.field+" "+v.value] = true
				}
			}
		}
	}
}

func (r *revisions) creates(s *seen, u *write) {
	if of := r.of(u.revision); u.revision != "" && s.ok() && of.by == nil {
		of.by = u
	}
}

// first keeps the earliest time.
func first(kept *time.Time, at time.Time) {
	if kept.IsZero() || at.Before(*kept) {
		*kept = at
	}
}

// isSettled tells whether an answer shows a revision with a final status: what is known only once it was built does not
// change any more.
func isSettled(revision gjson.Result) bool { return plane.IsSettled(revision.Get("status").Str) }

// shows notes a value once, by the exchange that showed it first.
func (of *revision) shows(v read) {
	values := of.shown[v.field]
	at := slices.IndexFunc(values, func(known read) bool { return known.value == v.value })
	if at < 0 {
		of.shown[v.field] = append(values, v)
	} else if v.settled {
		values[at].settled = true
	}
}

// readsIn are the values of fields in an answer that shows revisions. What is neither a string nor null is a concern of
// the contract.
func readsIn(s *seen) (all []read) {
	for id, revision := range shownIn(s) {
		all = append(all, readsOf(id, revision, s.ID)...)
	}
	return all
}

func readsOf(id string, object gjson.Result, exchange int) (all []read) {
	of := object.Get(sourceConfig)
	for _, field := range fieldsAll {
		if v := of.Get(field); of.IsObject() && (v.Type == gjson.Null || v.Type == gjson.String) {
			all = append(all, read{id, field, v.Str, isSettled(object), exchange})
		}
	}
	return all
}

// setBy returns the fields that a request sets, with the interface's names.
func setBy(s *seen) map[string]string {
	fields := map[string]string{}
	for _, field := range fieldsSet {
		if v := s.request.Get(sourceConfig + "." + field); v.Type == gjson.String {
			fields[field] = v.Str
		}
	}
	return fields
}

// shownIn are the revisions in an answer, by id.
func shownIn(s *seen) map[string]gjson.Result {
	found := map[string]gjson.Result{}
	add := func(revision gjson.Result) {
		if id := revision.Get("id").Str; id != "" {
			found[id] = revision
		}
	}
	switch s.Op.ID {
	case "get-revision":
		add(s.answer)
	case "list-revisions":
		for _, revision := range s.answer.Get("resources").Array() {
			add(revision)
		}
	}
	return found
}

// sentFor is what the request sent for a field that created the revision; "" where it sent nothing, or nobody knows
// which request it was.
func (r *revisions) sentFor(id, field string) string {
	if by := r.of(id).by; r.sure(by) {
		return by.fields[field]
	}
	return ""
}

// sure tells whether the revision that an answer has named is the one that its request created: nobody had named it
// before, and no other update of the deployment was under way.
func (r *revisions) sure(u *write) bool {
	return u != nil && !r.of(u.revision).named.Before(u.sent) && r.isAlone(u)
}

// isAlone tells whether no other update of the deployment was under way at the same time.
func (r *revisions) isAlone(u *write) bool {
	return !slices.ContainsFunc(r.updates[u.deployment], func(other *write) bool {
		return other != u && other.sent.Before(u.ended) && (other.ended.IsZero() || u.sent.Before(other.ended))
	})
}

// tolerated says, by field, which other spellings of a value are the same value.
var tolerated = map[string]func(sent, shown string) bool{
	// A path may be shown in its shortest form.
	"graph_config_path": func(sent, shown string) bool { return path.Clean(sent) == path.Clean(shown) },
	// Registry, default tag and digest may be filled in, and the host be in lower case.
	"image_uri": sameImage,
	// A commit id may be shortened.
	commit: func(one, other string) bool {
		return len(other) >= 7 && strings.HasPrefix(strings.ToLower(one), strings.ToLower(other))
	},
}

var (
	masks     = regexp.MustCompile(`\*{2,}|<redacted>|\[redacted\]`) // secrets within a value may be masked
	aURL      = regexp.MustCompile(`^(?:https?|docker|oci)://`)
	aRegistry = regexp.MustCompile(`^(?:index\.)?docker\.io/(?:library/)?`)
	aCommit   = regexp.MustCompile(`(?i)^[0-9a-f]{7,64}$`) // anything else in its place is a text until it is known
	aDigest   = regexp.MustCompile(`@sha256:[0-9a-f]{64}$`)
)

func sameImage(sent, shown string) bool {
	plain := func(uri string) string {
		host, rest, both := strings.Cut(aURL.ReplaceAllString(uri, ""), "/")
		if uri = host; both {
			uri = strings.ToLower(host) + "/" + rest
		}
		return strings.TrimSuffix(strings.TrimSuffix(aRegistry.ReplaceAllString(uri, ""), "/"), ":latest")
	}
	return plain(sent) == plain(shown) || plain(sent) == plain(aDigest.ReplaceAllString(shown, ""))
}

// sameEither tells whether two values that were shown may be the same one.
func sameEither(field, a, b string) bool { return SameValue(field, a, b) || SameValue(field, b, a) }

// SameValue tells whether a field shows what was sent.
func SameValue(field, sent, shown string) bool {
	if same := tolerated[field]; sent == shown || same != nil && same(sent, shown) {
		return true
	}
	parts := masks.Split(shown, -1)
	if len(parts) == 1 {
		return false
	}
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".+") + "$").MatchString(sent)
}
