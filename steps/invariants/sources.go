package invariants

import (
	"fmt"
	"slices"
)

// sources holds what reads of a revision show to what the request sent that created it, and to each other (section 2).
type sources struct {
	*revisions
	tally
}

// check compares reads with the request, where that is known, else with each other: what was not sent may become known only when the
// revision is built, so that reads before are left out.
func (r *sources) check(s *seen) {
	if !s.ok() {
		return
	}
	for id, revision := range shownIn(s) {
		of := revision.Get(sourceConfig)
		if !of.IsObject() {
			continue
		}
		for _, field := range fieldsAll {
			got, is := readOf(of.Get(field), s.ID)
			if !is || field == commit && !aCommit.MatchString(got.value) {
				continue
			}
			if sent := r.sentFor(id, field); sent != "" {
				r.judged++
				if got.null || !sameValue(field, sent, got.value) {
					r.violated(s, pointerTo(s, field), "a revision shows another "+field+" than the request that created it", fmt.Sprintf("%q", sent), shownValue(got))
				}
			} else if first := r.firstValue(id, field); first != nil && !got.null && isSettled(revision) && first.exchange != s.ID {
				r.judged++
				if !sameValue(field, first.value, got.value) && !sameValue(field, got.value, first.value) {
					r.violated(s, pointerTo(s, field), "reads of a revision show different values of "+field, shownValue(*first), shownValue(got))
				}
			}
		}
	}
}

// firstValue is the first value that was shown of a revision and is not to change: what was sent, or with a final status; nil where
// none was.
func (r *revisions) firstValue(revision, field string) *read {
	values, sent := r.shown[revision][field], r.sentFor(revision, field) != ""
	known := func(v read) bool {
		return (sent || v.settled) && !v.null && (field != commit || aCommit.MatchString(v.value))
	}
	if i := slices.IndexFunc(values, known); i >= 0 {
		return &values[i]
	}
	return nil
}

// pointerTo is the place of a field: in a list it is that of any revision.
func pointerTo(s *seen, field string) string {
	if s.Op.ID == "list-revisions" {
		return "/resources/*/" + sourceConfig + "/" + field
	}
	return "/" + sourceConfig + "/" + field
}

func shownValue(v read) string {
	if v.null {
		return "null or empty"
	}
	return fmt.Sprintf("%q", v.value)
}

// latest holds the source_revision_config of a deployment to the revision that it names as latest (section 2).
type latest struct {
	*revisions
	tally
}

func (r *latest) note(*seen) {} // sources does

// check compares GET of a deployment with what reads of the revision have shown. A field that was not sent, such as the commit id, may
// show nothing or something in its place until the revision is built: until then it is only not to show the value of another revision.
func (r *latest) check(s *seen) {
	if s.Op.ID != "get-deployment" || !s.ok() {
		return
	}
	revision := s.answer.Get("latest_revision_id").Str
	of := s.answer.Get(sourceConfig)
	if !of.IsObject() {
		return
	}
	for _, field := range fieldsAll {
		got, is := readOf(of.Get(field), s.ID)
		sent := r.sentFor(revision, field) != ""
		own := slices.DeleteFunc(slices.Clone(r.shown[revision][field]), func(v read) bool { return v.null })
		at := slices.IndexFunc(own, func(v read) bool { return sent || v.settled })
		if !is || at < 0 || got.null && !sent {
			continue
		}
		if !sent && !s.Sent.After(r.settled[revision]) && !r.served[field][got.value] {
			continue
		}
		r.judged++
		if got.null || !slices.ContainsFunc(own, func(v read) bool { return sameValue(field, v.value, got.value) || sameValue(field, got.value, v.value) }) {
			r.violated(s, "/"+sourceConfig+"/"+field, "a deployment shows another "+field+" than the revision that it names as latest",
				fmt.Sprintf("%q", own[at].value), shownValue(got))
		}
	}
}
