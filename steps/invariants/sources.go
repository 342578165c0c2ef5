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

// check compares reads with the request, where that is known, else with the first read. A null may become a value when the revision is
// built, where none was sent.
func (r *sources) check(s *seen) {
	if !s.ok() {
		return
	}
	for id, revision := range shownIn(s) {
		of := revision.Get(sourceConfig)
		if !of.IsObject() {
			continue
		}
		for _, field := range fieldsSet {
			got, is := readOf(of.Get(field), s.id)
			if !is {
				continue
			}
			if sent := r.sentFor(id, field); sent != "" {
				r.judged++
				if got.null || !sameValue(field, sent, got.value) {
					r.violated(s, pointerTo(s, field), "a revision shows another "+field+" than the request that created it", fmt.Sprintf("%q", sent), shownValue(got))
				}
			} else if first := r.firstValue(id, field); first != nil && !got.null && first.exchange != s.id {
				r.judged++
				if !sameValue(field, first.value, got.value) && !sameValue(field, got.value, first.value) {
					r.violated(s, pointerTo(s, field), "reads of a revision show different values of "+field, shownValue(*first), shownValue(got))
				}
			}
		}
	}
}

func (r *revisions) firstValue(revision, field string) *read {
	values := r.shown[revision][field]
	if i := slices.IndexFunc(values, func(v read) bool { return !v.null }); i >= 0 {
		return &values[i]
	}
	return nil
}

// pointerTo is the place of a field: in a list it is that of any revision.
func pointerTo(s *seen, field string) string {
	if s.op.ID == "list-revisions" {
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

// check compares GET of a deployment with all that reads of the revision have shown: a commit id may come later to one than to the
// other.
func (r *latest) check(s *seen) {
	if s.op.ID != "get-deployment" || !s.ok() {
		return
	}
	revision := s.answer.Get("latest_revision_id").Str
	of, known := s.answer.Get(sourceConfig), r.shown[revision]
	if !of.IsObject() {
		return
	}
	for _, field := range fieldsAll {
		got, is := readOf(of.Get(field), s.id)
		values := slices.DeleteFunc(slices.Clone(known[field]), func(v read) bool { return v.null })
		if !is || len(values) == 0 || got.null && r.sentFor(revision, field) == "" {
			continue
		}
		r.judged++
		if got.null || !slices.ContainsFunc(values, func(v read) bool { return sameValue(field, v.value, got.value) || sameValue(field, got.value, v.value) }) {
			r.violated(s, "/"+sourceConfig+"/"+field, "a deployment shows another "+field+" than the revision that it names as latest", fmt.Sprintf("%q", values[0].value), shownValue(got))
		}
	}
}
