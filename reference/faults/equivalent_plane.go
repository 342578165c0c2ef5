package faults

import (
	"net/http"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reference/deviate"
)

// otherStatuses differ in HTTP statuses that the interface leaves open.
func otherStatuses() []EquivalentMutant {
	return []EquivalentMutant{
		{
			Name: "updates-wait-for-builds", Place: "control plane 400", Differs: "an update returns 409 until the latest revision has a final status",
			Apply: compose(paced(15*time.Millisecond), around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if updateDeployment.is(r) {
					path := "/v2/deployments/" + deploymentOf(r) + "/revisions/" + text(lookAtDeployment(next, r), "latest_revision_id")
					if status := text(look(next, r, path, ""), "status"); status != "" && status != "DEPLOYED" && !strings.HasSuffix(status, "_FAILED") {
						a := deviate.Answer{Header: http.Header{}}
						a.Refuse(http.StatusConflict, "The latest revision is "+status+".")
						a.Send(w)
						return
					}
				}
				next.ServeHTTP(w, r)
			})),
		},
	}
}

// otherContents differ in contents that the interface leaves open.
func otherContents() []EquivalentMutant {
	return []EquivalentMutant{
		{
			Name: "other-words", Place: "error texts", Differs: "error details and messages are worded differently",
			Apply: onPlane(func(a *deviate.Answer) {
				a.Edit(func(o map[string]any) {
					if detail := text(o, "detail"); detail != "" && a.Status == http.StatusNotFound {
						o["detail"] = "Nicht da: «" + strings.TrimSuffix(strings.TrimPrefix(detail, "Deployment ID "), " not found.") + "»"
					}
					for _, problem := range items(o["detail"]) {
						problem["msg"], problem["type"] = "¯\\_(ツ)_/¯", "E-0815"
					}
				})
			}),
		},
	}
}
