package faults

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/agentconform/agentconform/reference/deviate"
)

// sameInContract is the reason if a requirement and the contract check the same field.
const sameInContract = "the contract also checks this field"

func creation() []Fault {
	return []Fault{
		{
			Name: "ids-are-not-uuids", Breaks: "the ids of deployments are texts of another form, such as id_0a1b", Fails: "CP-CREATE-1",
			Also: map[string]string{
				"CP-CONTRACT-create-deployment": sameInContract, "CP-CONTRACT-get-deployment": sameInContract,
			},
			Apply: otherIDs(),
		},
	}
}

const selfHosted = "self-hosted"

var otherID = regexp.MustCompile(`id_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})`)

// otherIDs shows the ids of deployments in another form, and takes them in it.
func otherIDs() Layer {
	return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !isPlane(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := deviate.Capture(next, withPath(r, otherID.ReplaceAllString(r.URL.Path, "$1-$2-$3-$4-$5")))
		if a.Status < 300 && !strings.Contains(r.URL.Path, "/revisions") {
			show := func(d map[string]any) {
				if id := text(d, "id"); id != "" {
					d["id"] = "id_" + strings.ReplaceAll(id, "-", "")
				}
			}
			a.Edit(func(o map[string]any) {
				show(o)
				for _, row := range items(o["resources"]) {
					show(row)
				}
			})
		}
		a.Send(w)
	})
}

// untilUpdated changes the answers of an operation on deployments that were not updated, or on their agent servers.
func untilUpdated(o operation, change func(object map[string]any)) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		a := deviate.Capture(next, r)
		id := deploymentOf(r)
		if getState.is(r) {
			id = segment(r, 2)
		}
		switch {
		case updateDeployment.is(r) && a.Status < 300:
			m.mark(id, true)
		case o.is(r) && a.Status == http.StatusOK && m.marked(id) == nil:
			a.Edit(change)
		}
		a.Send(w)
	})
}
