package faults

import (
	"slices"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/store"
)

func filters() []Fault {
	return []Fault{
		{
			Name: "filter-comes-after-paging", Breaks: "the status filter is applied after paging", Fails: "CP-LIST-10",
			Apply: listing(func(_ controlplane.Deployment, all []controlplane.Revision, f controlplane.RevisionFilter) []controlplane.Revision {
				return keep(cut(all, f.Page), f.Statuses)
			}),
		},
	}
}

// controlOptions adds a change to the options of the control plane.
func controlOptions(change func(*controlplane.Options)) Layer {
	return func(o *reference.Options) {
		inner := o.WrapControl
		o.WrapControl = func(opts *controlplane.Options) {
			if inner != nil {
				inner(opts)
			}
			change(opts)
		}
	}
}

// choice returns what is shown of the revisions of a deployment, which are newest first.
type choice = func(d controlplane.Deployment, all []controlplane.Revision, f controlplane.RevisionFilter) []controlplane.Revision

// listing shows revisions, single or in a list, as a choice returns them.
func listing(choose choice) Layer {
	return controlOptions(func(o *controlplane.Options) { o.Select = choose })
}

// keep returns the revisions with one of the statuses; all if statuses is nil.
func keep(all []controlplane.Revision, statuses []controlplane.Status) []controlplane.Revision {
	return slices.DeleteFunc(slices.Clone(all), func(r controlplane.Revision) bool {
		return statuses != nil && !slices.Contains(statuses, r.Status)
	})
}

// cut returns a page of a list.
func cut(all []controlplane.Revision, page store.Page) []controlplane.Revision {
	from := min(max(page.Offset, 0), len(all))
	return all[from : from+min(page.Limit, len(all)-from)]
}
