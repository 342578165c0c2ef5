package invariants

import (
	"cmp"
	"fmt"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/plane"
)

const (
	sourceConfig = "source_revision_config" // the object with the fields of a source
	commit       = "repo_commit_sha"        // the field that only the server sets
)

var (
	fieldsSet = []string{"repo_ref", "graph_config_path", "image_uri"} // the fields that a request sets
	fieldsAll = append(slices.Clone(fieldsSet), commit)
)

// revisions has the values that requests of the test run set for revisions, and the values that reads showed.
type revisions struct {
	byID     map[string]*revision   // by key
	created  map[string][]*revision // revisions whose creation is known, by deployment
	updates  map[string][]*write    // by deployment
	latest   map[string]time.Time   // time at which a response first named a latest revision, by deployment
	deleted  map[string]time.Time   // when the first DELETE of a deployment was sent
	deployed map[string]bool        // fields and values of revisions that were DEPLOYED: "repo_ref main"
	commits  map[string]bool        // commit ids that requests sent, which CP-INVARIANT-9 judges
	patience time.Duration          // time for which a read may show the state before a write
	recorded bool                   // the record is a recording of other clients, which may have sent more requests
}

// revision has the observations of a revision. Times are zero if unknown.
type revision struct {
	named    time.Time // when a response first named it
	settled  time.Time // when a response first showed a final status
	deployed time.Time // when a response first showed DEPLOYED

	by    *write            // the first request whose response named the revision as its own; see isCertain
	shown map[string][]read // by field, each value once
}

// write is a request that may have created a revision.
type write struct {
	exchange   int
	sent       time.Time
	ended      time.Time // zero if the server may still carry it out
	deployment string
	patch      bool
	status     int
	revision   string
	fields     map[string]string
}

// isUnderWay reports whether the server may have carried out the write between two times.
func (u *write) isUnderWay(from, to time.Time) bool {
	return u.sent.Before(to) && (u.ended.IsZero() || u.ended.After(from))
}

// read is the value of a field in a response. It is "" if the field is null, empty or absent. Such a field may get a
// value when the revision is built.
type read struct {
	revision string
	field    string
	value    string
	settled  bool // shown with a final status of the revision, so the value does not change any more
	exchange int
}

// String returns the value in a readable form.
func (v read) String() string {
	if v.value == "" {
		return "null or empty"
	}
	return fmt.Sprintf("%q", v.value)
}

func newRevisions(patience time.Duration) *revisions {
	return &revisions{
		byID:     map[string]*revision{},
		created:  map[string][]*revision{},
		updates:  map[string][]*write{},
		latest:   map[string]time.Time{},
		deleted:  map[string]time.Time{},
		deployed: map[string]bool{},
		commits:  map[string]bool{},
		patience: patience,
	}
}

// revision returns the observations of a revision.
func (r *revisions) revision(id string) *revision {
	key := exchange.IDKey(id)
	if r.byID[key] == nil {
		r.byID[key] = &revision{shown: map[string][]read{}}
	}
	return r.byID[key]
}

func (r *revisions) note(s *seen) {
	if s.Method == http.MethodDelete {
		keepEarliest(r.deleted, s.In("deployment_id"), s.Sent)
	}
	if sent := s.request.Get(sourceConfig + "." + commit); sent.Type == gjson.String {
		r.commits[sent.Str] = true
	}
	u := &write{exchange: s.ID, sent: s.Sent, ended: s.Ended, status: s.Status, fields: setBy(s),
		revision: s.response.Get("latest_revision_id").Str}
	switch s.Op.ID {
	case "create-deployment":
		u.deployment = s.response.Get("id").Str
		r.noteCreation(s, u)
	case "update-deployment":
		u.deployment = s.In("deployment_id")
		u.patch = true
		if s.Status == 0 || s.Status >= 500 {
			u.ended = time.Time{}
		}
		if s.Status/100 != 4 {
			r.updates[u.deployment] = append(r.updates[u.deployment], u)
		}
		if len(u.fields) > 0 {
			r.noteCreation(s, u)
		}
	}
	if !s.shows() {
		return
	}
	keepEarlier(&r.revision(u.revision).named, s.Ended)
	if u.revision != "" {
		keepEarliest(r.latest, cmp.Or(u.deployment, s.In("deployment_id")), s.Ended)
	}
	for id, object := range shownIn(s) {
		r.noteShown(s, id, object)
	}
}

// noteCreation notes that a request created the revision in its response.
func (r *revisions) noteCreation(s *seen, u *write) {
	if u.revision == "" || !s.shows() {
		return
	}
	created := r.revision(u.revision)
	if created.by == nil {
		created.by = u
		r.created[u.deployment] = append(r.created[u.deployment], created)
	}
}

// noteShown notes the values of a revision in a response.
func (r *revisions) noteShown(s *seen, id string, object gjson.Result) {
	known := r.revision(id)
	keepEarlier(&known.named, s.Ended)
	if isSettled(object) {
		keepEarlier(&known.settled, s.Ended)
	}
	isDeployed := plane.IsDeployed(object.Get("status").Str)
	if isDeployed {
		keepEarlier(&known.deployed, s.Ended)
	}
	for _, v := range readsOf(id, object, s.ID) {
		if v.field == commit && r.commits[v.value] {
			continue
		}
		known.noteValue(v)
		if isDeployed && v.value != "" {
			r.deployed[v.field+" "+v.value] = true
		}
	}
}

// keepEarlier sets a time to the earlier one of two. The zero time counts as unknown.
func keepEarlier(kept *time.Time, at time.Time) {
	if kept.IsZero() || at.Before(*kept) {
		*kept = at
	}
}

// keepEarliest sets the time of a key, unless the key has an earlier one.
func keepEarliest[K comparable](times map[K]time.Time, key K, at time.Time) {
	known := times[key]
	keepEarlier(&known, at)
	times[key] = known
}

// isAfter reports whether a response came after the time of a key, or false if the key has none.
func isAfter(times map[string]time.Time, key string, s *seen) bool {
	at, isKnown := times[key]
	return isKnown && at.Before(s.Ended)
}

// isSettled reports whether a response shows a revision with a final status. Values that the build determines do not
// change any more.
func isSettled(revision gjson.Result) bool { return plane.IsSettled(revision.Get("status").Str) }

// noteValue notes a value once, with the first exchange that showed it.
func (of *revision) noteValue(v read) {
	values := of.shown[v.field]
	at := slices.IndexFunc(values, func(known read) bool { return known.value == v.value })
	if at < 0 {
		of.shown[v.field] = append(values, v)
	} else if v.settled {
		values[at].settled = true
	}
}

// readsIn returns the values of fields in a response that shows revisions. It ignores values that are neither strings
// nor null, because the oracle judges them.
func readsIn(s *seen) []read {
	var all []read
	for id, revision := range shownIn(s) {
		all = append(all, readsOf(id, revision, s.ID)...)
	}
	return all
}

// readsOf returns the values of the fields of a revision or a deployment.
func readsOf(id string, object gjson.Result, shownBy int) []read {
	source := object.Get(sourceConfig)
	if !source.IsObject() {
		return nil
	}
	var all []read
	for _, field := range fieldsAll {
		v := source.Get(field)
		if v.Type == gjson.Null || v.Type == gjson.String {
			all = append(all, read{id, field, v.Str, isSettled(object), shownBy})
		}
	}
	return all
}

// setBy returns the fields that a request sets, with the interface's names.
func setBy(s *seen) map[string]string {
	fields := map[string]string{}
	for _, field := range fieldsSet {
		v := s.request.Get(sourceConfig + "." + field)
		if v.Type == gjson.String {
			fields[field] = v.Str
		}
	}
	return fields
}

// shownIn returns the revisions in a response by ID.
func shownIn(s *seen) map[string]gjson.Result {
	var all []gjson.Result
	switch s.Op.ID {
	case "get-revision":
		all = []gjson.Result{s.response}
	case "list-revisions":
		all = s.response.Get("resources").Array()
	}
	found := map[string]gjson.Result{}
	for _, revision := range all {
		if id := revision.Get("id").Str; id != "" {
			found[id] = revision
		}
	}
	return found
}

// sentFor returns the value of a field in the request that created the revision. It returns "" if the request has no
// value, or if it is uncertain which request created the revision.
func (r *revisions) sentFor(id, field string) string {
	by := r.revision(id).by
	if !r.isCertain(by) {
		return ""
	}
	return by.fields[field]
}

// isCertain reports whether a request certainly created the revision that its response names: no earlier response named
// the revision, and no other update of the deployment was under way. The response to an update may name the previous
// revision. A recording may begin in between, so an earlier response in it must have named that revision.
func (r *revisions) isCertain(u *write) bool {
	if u == nil || r.revision(u.revision).named.Before(u.sent) || !r.isAlone(u) {
		return false
	}
	return !r.recorded || !u.patch || r.latest[u.deployment].Before(u.sent) && !r.latest[u.deployment].IsZero()
}

// isAlone reports whether no other update of the deployment was under way at the same time.
func (r *revisions) isAlone(u *write) bool {
	return !slices.ContainsFunc(r.updates[u.deployment], func(other *write) bool {
		return other != u && other.isUnderWay(u.sent, u.ended)
	})
}

// tolerated has, for each field, a function that reports whether two spellings are the same value.
var tolerated = map[string]func(sent, shown string) bool{
	// A path may be shown in its shortest form.
	"graph_config_path": func(sent, shown string) bool { return path.Clean(sent) == path.Clean(shown) },
	// Registry, default tag and digest may be added, and the host may be in lower case.
	"image_uri": sameImage,
	// A commit id may be shortened.
	commit: func(one, other string) bool {
		return len(other) >= 7 && strings.HasPrefix(strings.ToLower(one), strings.ToLower(other))
	},
}

var (
	masks          = regexp.MustCompile(`\*{2,}|<redacted>|\[redacted\]`) // secrets in a value may be masked
	schemePrefix   = regexp.MustCompile(`^(?:https?|docker|oci)://`)
	registryPrefix = regexp.MustCompile(`^(?:index\.)?docker\.io/(?:library/)?`)
	commitPattern  = regexp.MustCompile(`(?i)^[0-9a-f]{7,64}$`) // any other value is a placeholder until the build
	digestSuffix   = regexp.MustCompile(`@sha256:[0-9a-f]{64}$`)
)

func sameImage(sent, shown string) bool {
	image := plainImage(sent)
	return image == plainImage(shown) || image == plainImage(digestSuffix.ReplaceAllString(shown, ""))
}

// plainImage returns the URI of an image without scheme, default registry and default tag, and with its host in lower
// case.
func plainImage(uri string) string {
	uri = schemePrefix.ReplaceAllString(uri, "")
	host, rest, hasHost := strings.Cut(uri, "/")
	if hasHost {
		uri = strings.ToLower(host) + "/" + rest
	}
	uri = registryPrefix.ReplaceAllString(uri, "")
	return strings.TrimSuffix(strings.TrimSuffix(uri, "/"), ":latest")
}

// sameEither reports whether two values that were shown may be equal.
func sameEither(field, a, b string) bool { return SameValue(field, a, b) || SameValue(field, b, a) }

// SameValue reports whether a field shows the value that was sent. It tolerates other spellings and masked secrets.
func SameValue(field, sent, shown string) bool {
	same := tolerated[field]
	if sent == shown || same != nil && same(sent, shown) {
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
